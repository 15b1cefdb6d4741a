#include "tracing/analysis/descheduled_gaps.h"
#include "tracing/analysis/ledger/largest_remainder.h"
#include "tracing/analysis/time_split.h"

#include <algorithm>
#include <utility>

namespace rankscope::tracing {

using ledger::mulDiv;

namespace {

/// The rows of one kind that cover an instant which only moves forward.
template <typename Row> class ActiveRows {
public:
    explicit ActiveRows(const std::vector<Row>& rows)
        : rows_(rows)
    {
    }

    /// True if the set is another one than before.
    bool moveTo(std::int64_t timeNs)
    {
        const std::size_t ended = std::erase_if(active_, [&](std::size_t row) { return rows_[row].endNs <= timeNs; });
        bool changed = ended > 0;
        for (; next_ < rows_.size() && rows_[next_].beginNs <= timeNs; ++next_) {
            if (rows_[next_].endNs <= timeNs)
                continue;
            active_.push_back(next_);
            changed = true;
        }
        return changed;
    }

    bool empty() const { return active_.empty(); }
    const std::vector<std::size_t>& indices() const { return active_; }
    const Row& operator[](std::size_t i) const { return rows_[active_[i]]; }
    std::size_t size() const { return active_.size(); }

private:
    const std::vector<Row>& rows_;
    std::size_t next_ = 0;
    std::vector<std::size_t> active_;
};

/// All instants at which the label can change.
std::vector<std::int64_t> boundaries(const LabelInput& input)
{
    const RankRows& rows = input.rows;
    std::vector<std::int64_t> times{ input.window.beginNs, input.window.endNs };
    const auto addEnds = [&](const auto& spans) {
        for (const auto& span : spans) {
            times.push_back(span.beginNs);
            times.push_back(span.endNs);
        }
    };
    addEnds(rows.kernels);
    addEnds(rows.copies);
    addEnds(rows.bubbles);
    addEnds(rows.ranges);
    addEnds(rows.parts);
    for (const SplitPart& part : rows.parts)
        times.push_back(part.splitNs);
    times.insert(times.end(), input.cuts.begin(), input.cuts.end());
    if (input.lifecycle) {
        times.push_back(input.lifecycle->beginNs);
        times.push_back(input.lifecycle->endNs);
    }
    std::erase_if(times, [&](std::int64_t t) { return t < input.window.beginNs || t > input.window.endNs; });
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
}

/// How much of each kernel had no core, given away ns by ns (METRICS 5.3, level 2).
class Descheduling {
public:
    Descheduling(const std::vector<Kernel>& kernels, const std::vector<KernelSignature>& signatures)
        : kernels_(kernels)
        , signatures_(signatures)
        , takenNs_(kernels.size(), 0)
    {
    }

    /// Of the stretch [fromNs, toNs), counted from the begin of the set of active kernels: its j-th ns belongs to
    /// kernel j mod n.
    std::int64_t of(const std::vector<std::size_t>& active, std::int64_t fromNs, std::int64_t toNs)
    {
        const auto n = static_cast<std::int64_t>(active.size());
        std::int64_t descheduledNs = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const auto countBefore = [&](std::int64_t t) { return (t + n - 1 - i) / n; };
            const std::int64_t ownNs = countBefore(toNs) - countBefore(fromNs);
            descheduledNs += take(active[static_cast<std::size_t>(i)], ownNs);
        }
        return descheduledNs;
    }

private:
    std::int64_t take(std::size_t kernel, std::int64_t ownNs)
    {
        const Kernel& k = kernels_[kernel];
        if (!k.cpuNs)
            return 0;
        const auto signature = static_cast<std::size_t>(raw(k.signature));
        const std::int64_t threads = signature < signatures_.size() ? std::max(1, signatures_[signature].threads) : 1;
        const std::int64_t wallNs = k.endNs - k.beginNs;
        const std::int64_t lostNs = std::max<std::int64_t>(0, wallNs - *k.cpuNs / threads);
        const auto lostUpTo = [&](std::int64_t t) { return mulDiv(t, lostNs, wallNs); };
        const std::int64_t before = takenNs_[kernel];
        takenNs_[kernel] = before + ownNs;
        return lostUpTo(before + ownNs) - lostUpTo(before);
    }

    const std::vector<Kernel>& kernels_;
    const std::vector<KernelSignature>& signatures_;
    std::vector<std::int64_t> takenNs_;
};

/// Walks over a rank's time once and names what covers each stretch.
class Labeller {
public:
    explicit Labeller(const LabelInput& input)
        : input_(input)
        , kernels_(input.rows.kernels)
        , parts_(input.rows.parts)
        , copies_(input.rows.copies)
        , bubbles_(input.rows.bubbles)
        , ranges_(input.rows.ranges)
        , descheduling_(input.rows.kernels, input.signatures)
    {
    }

    std::vector<LabelledInterval> run()
    {
        const std::vector<std::int64_t> times = boundaries(input_);
        for (std::size_t i = 0; i + 1 < times.size(); ++i) {
            moveTo(times[i]);
            LabelledInterval piece = label(times[i], times[i + 1]);
            const bool isGap = kernels_.empty() && parts_.empty() && copies_.empty();
            append(piece, isGap);
        }
        closeGap(false);
        return std::move(result_);
    }

private:
    void moveTo(std::int64_t timeNs)
    {
        if (kernels_.moveTo(timeNs))
            kernelSetSinceNs_ = timeNs;
        parts_.moveTo(timeNs);
        copies_.moveTo(timeNs);
        bubbles_.moveTo(timeNs);
        ranges_.moveTo(timeNs);
    }

    LabelledInterval label(std::int64_t beginNs, std::int64_t endNs)
    {
        LabelledInterval piece;
        piece.beginNs = beginNs;
        piece.endNs = endNs;
        if (!labelLifecycle(piece) && !labelCompute(piece) && !labelCommunication(piece) && !copies_.empty())
            piece.label = SpanClass::Copy;
        if (piece.label == SpanClass::Unattributed)
            labelGap(piece);
        return piece;
    }

    bool labelLifecycle(LabelledInterval& piece) const
    {
        piece.label = SpanClass::Start;
        for (const RangeKind kind : { RangeKind::Start, RangeKind::Shutdown, RangeKind::Validation }) {
            if (inRange(kind)) {
                piece.lifecycle = kind;
                return true;
            }
        }
        if (input_.lifecycle && piece.beginNs < input_.lifecycle->beginNs)
            return true;
        if (input_.lifecycle && piece.beginNs >= input_.lifecycle->endNs) {
            piece.lifecycle = RangeKind::Shutdown;
            return true;
        }
        piece.label = SpanClass::Unattributed;
        return false;
    }

    bool labelCompute(LabelledInterval& piece)
    {
        if (kernels_.empty())
            return false;
        const auto signature = static_cast<std::size_t>(raw(kernels_[0].signature));
        const Pass pass = signature < input_.signatures.size() ? input_.signatures[signature].pass : Pass::None;
        piece.label = pass == Pass::Optimizer ? SpanClass::Optimizer
            : pass == Pass::Recompute         ? SpanClass::Recompute
                                              : SpanClass::Compute;
        piece.communicationHidden = !parts_.empty();
        piece.descheduledNs
            = descheduling_.of(kernels_.indices(), piece.beginNs - kernelSetSinceNs_, piece.endNs - kernelSetSinceNs_);
        return true;
    }

    /// Of several parts that are all in transfer, or all in wait, the one that exits last counts.
    const SplitPart* lastToExit(std::int64_t timeNs, bool inWait) const
    {
        const SplitPart* last = nullptr;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const SplitPart& part = parts_[i];
            if ((part.isSplit && timeNs < part.splitNs) != inWait)
                continue;
            if (!last || std::pair(-part.endNs, part.instance) < std::pair(-last->endNs, last->instance))
                last = &part;
        }
        return last;
    }

    bool labelCommunication(LabelledInterval& piece) const
    {
        const SplitPart* part = lastToExit(piece.beginNs, false);
        const bool inWait = !part;
        if (inWait)
            part = lastToExit(piece.beginNs, true);
        if (!part)
            return false;
        const bool waits = inWait || !part->isSplit;
        if (waits && part->dimension == Dimension::Pipeline && !bubbles_.empty()) {
            labelBubble(piece);
            return true;
        }
        piece.label = !part->isSplit ? SpanClass::Communication : inWait ? SpanClass::Wait : SpanClass::Transfer;
        piece.dimension = part->dimension;
        if (inWait)
            piece.awaitedRank = part->lateRank;
        return true;
    }

    void labelGap(LabelledInterval& piece) const
    {
        if (inRange(RangeKind::Checkpoint))
            piece.label = SpanClass::Checkpoint;
        else if (inRange(RangeKind::Data))
            piece.label = SpanClass::Data;
        else if (!bubbles_.empty())
            labelBubble(piece);
    }

    void labelBubble(LabelledInterval& piece) const
    {
        piece.label = SpanClass::Bubble;
        piece.phase = bubbles_[0].phase;
        piece.awaitedRank = bubbles_[0].awaitedRank;
    }

    bool inRange(RangeKind kind) const
    {
        for (std::size_t i = 0; i < ranges_.size(); ++i) {
            if (ranges_[i].kind == kind)
                return true;
        }
        return false;
    }

    void append(const LabelledInterval& piece, bool isGap)
    {
        if (isGap && gapFrom_ == kNoGap)
            gapFrom_ = result_.size(), gapBeginNs_ = piece.beginNs;
        else if (!isGap)
            closeGap(true);
        if (!mergeWithLast(piece, isGap))
            result_.push_back(piece);
    }

    bool mergeWithLast(const LabelledInterval& piece, bool isGap)
    {
        if (result_.empty() || (isGap && gapFrom_ == result_.size())
            || std::binary_search(input_.cuts.begin(), input_.cuts.end(), piece.beginNs))
            return false;
        LabelledInterval& last = result_.back();
        LabelledInterval longer = piece;
        longer.beginNs = last.beginNs;
        longer.descheduledNs = last.descheduledNs;
        last.endNs = piece.endNs;
        if (!(last == longer)) {
            last.endNs = piece.beginNs;
            return false;
        }
        last.descheduledNs += piece.descheduledNs;
        return true;
    }

    /// A whole gap that is short and ends with a device operation is the machine's own time.
    void closeGap(bool endsWithOperation)
    {
        if (gapFrom_ == kNoGap)
            return;
        const bool isShort = result_.back().endNs - gapBeginNs_ <= kKernelGapNs;
        for (std::size_t i = gapFrom_; i < result_.size() && isShort && endsWithOperation; ++i) {
            if (result_[i].label == SpanClass::Unattributed)
                result_[i].label = SpanClass::Launch;
        }
        gapFrom_ = kNoGap;
    }

    static constexpr std::size_t kNoGap = static_cast<std::size_t>(-1);

    const LabelInput& input_;
    ActiveRows<Kernel> kernels_;
    ActiveRows<SplitPart> parts_;
    ActiveRows<Copy> copies_;
    ActiveRows<Bubble> bubbles_;
    ActiveRows<Range> ranges_;
    Descheduling descheduling_;
    std::int64_t kernelSetSinceNs_ = 0;
    std::vector<LabelledInterval> result_;
    std::size_t gapFrom_ = kNoGap;
    std::int64_t gapBeginNs_ = 0;
};

} // namespace

std::vector<LabelledInterval> labelledIntervals(const LabelInput& input)
{
    if (input.window.endNs <= input.window.beginNs)
        return {};
    std::vector<LabelledInterval> intervals = Labeller(input).run();
    bookDescheduledGaps(intervals, input.rows.ranges, input.window);
    return intervals;
}

} // namespace rankscope::tracing
