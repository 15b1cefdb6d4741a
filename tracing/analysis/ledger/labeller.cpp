#include "tracing/analysis/ledger/labeller.h"

#include "tracing/model/interval.h"
#include "tracing/model/sort_runs.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <iterator>
#include <queue>
#include <tuple>
#include <utility>

namespace rankscope::tracing::ledger {

namespace {

enum class OpKind : std::uint8_t { Compute, Part, Copy };

struct OpRef {
    OpKind kind = OpKind::Compute;
    std::uint32_t index = 0;

    auto operator<=>(const OpRef&) const = default;
};

/// Begin or end of something on the device.
struct Edge {
    Ns at = 0;
    bool isBegin = false;
    OpRef op;
};

/// Nothing ran on the device: what the gap rules need to know.
struct Gap {
    Ns begin = 0;
    Ns end = 0;
    bool reachesEnd = false; ///< of the stretch: no operation begins there
    std::optional<Ns> launch{}; ///< of the operation that begins there
};

Ns waitOf(const SplitPart& part, ClockView view)
{
    switch (view) {
    case ClockView::Low:
        return part.waitLow;
    case ClockView::High:
        return part.waitHigh;
    default:
        return part.wait;
    }
}

class StretchLabeller {
public:
    StretchLabeller(
        const LedgerInput& input, const RankInput& rank, const std::vector<SplitPart>& parts, ClockView view)
        : input_(input)
        , rank_(rank)
        , parts_(parts)
        , view_(view)
    {
        std::vector<Window> checkpoints, data;
        for (const Annotation& a : rank.annotations) {
            if (a.kind == AnnotationKind::Checkpoint)
                checkpoints.push_back({ a.begin, a.end });
            else if (a.kind == AnnotationKind::Data)
                data.push_back({ a.begin, a.end });
        }
        checkpoints_ = unionOf(std::move(checkpoints));
        data_ = unionOf(std::move(data));
        for (std::size_t p = 0; p < rank.parts.size(); ++p) {
            if (rank.parts[p].onHost)
                hostParts_.push_back(p);
        }
        collectBegins();
    }

    /// Hands out the segments of one stretch after the other.
    template <typename Sink> void run(Sink sink)
    {
        for (const Stretch& stretch : rank_.stretches) {
            out_.clear();
            label(stretch);
            sink(out_);
        }
    }

private:
    void collectBegins()
    {
        begins_.reserve(rank_.compute.size() + rank_.copies.size() + rank_.parts.size());
        const auto add = [&](OpKind kind, std::size_t index) {
            const OpRef op{ kind, static_cast<std::uint32_t>(index) };
            if (const Window times = timesOf(op); times.beginNs < times.endNs)
                begins_.push_back(op);
        };
        for (std::size_t i = 0; i < rank_.compute.size(); ++i)
            add(OpKind::Compute, i);
        for (std::size_t i = 0; i < rank_.parts.size(); ++i) {
            if (!rank_.parts[i].onHost)
                add(OpKind::Part, i);
        }
        for (std::size_t i = 0; i < rank_.copies.size(); ++i)
            add(OpKind::Copy, i);
        // Stable: what begins at one instant stays in the order of kinds and indices.
        sortRuns(begins_, [&](OpRef a, OpRef b) { return timesOf(a).beginNs < timesOf(b).beginNs; });
    }

    Window timesOf(OpRef op) const
    {
        switch (op.kind) {
        case OpKind::Compute:
            return { rank_.compute[op.index].begin, rank_.compute[op.index].end };
        case OpKind::Copy:
            return { rank_.copies[op.index].begin, rank_.copies[op.index].end };
        default:
            return { parts_[op.index].entry, parts_[op.index].exit };
        }
    }

    /// The next begin or end; ends come first at one instant. None when nothing more begins or ends.
    std::optional<Edge> nextEdge() const
    {
        std::optional<Edge> edge;
        if (next_ < begins_.size())
            edge = Edge{ timesOf(begins_[next_]).beginNs, true, begins_[next_] };
        if (!ends_.empty() && (!edge || ends_.top().first <= edge->at))
            edge = Edge{ ends_.top().first, false, ends_.top().second };
        return edge;
    }

    std::optional<Ns> launchOf(OpRef op) const
    {
        switch (op.kind) {
        case OpKind::Compute:
            return rank_.compute[op.index].launch;
        case OpKind::Copy:
            return rank_.copies[op.index].launch;
        default:
            return rank_.parts[op.index].launch;
        }
    }

    void apply(const Edge& edge)
    {
        if (edge.isBegin) {
            ++next_;
            ends_.push({ timesOf(edge.op).endNs, edge.op });
        } else {
            ends_.pop();
        }
        const int change = edge.isBegin ? 1 : -1;
        if (edge.op.kind == OpKind::Compute)
            activeCompute_ += change;
        else if (edge.op.kind == OpKind::Copy)
            activeCopies_ += change;
        else if (edge.isBegin)
            activeParts_.push_back(edge.op.index);
        else
            std::erase(activeParts_, edge.op.index);
    }

    bool idle() const { return activeCompute_ == 0 && activeCopies_ == 0 && activeParts_.empty(); }

    void label(const Stretch& stretch)
    {
        stretchBegin_ = stretch.begin;
        std::optional<Edge> edge = nextEdge();
        for (; edge && edge->at <= stretch.begin; edge = nextEdge())
            apply(*edge);
        Ns at = stretch.begin;
        // Operations that begin exactly with the stretch leave no gap; idle from the start opens one.
        while (at < stretch.end) {
            const Ns until = edge ? std::min(edge->at, stretch.end) : stretch.end;
            const bool wasIdle = idle();
            if (!wasIdle)
                busy(at, until);
            std::optional<Ns> launch;
            bool begins = false;
            for (; edge && edge->at == until && until < stretch.end; edge = nextEdge()) {
                if (edge->isBegin) {
                    begins = true;
                    if (const auto l = launchOf(edge->op); l && (!launch || *l < *launch))
                        launch = l;
                }
                apply(*edge);
            }
            if (wasIdle)
                gap({ at, until, !begins, launch });
            at = until;
        }
    }

    /// Some operation is active from begin to end, and the set of operations does not change there.
    void busy(Ns begin, Ns end)
    {
        if (activeCompute_ > 0)
            return put({ begin, end, Label::Compute });
        if (activeParts_.empty())
            return put({ begin, end, Label::Copy });
        communication(activeParts_, begin, end);
    }

    /// Rules 2 and 3: cuts where a part goes from wait to transfer, or from ideal to excess.
    void communication(const std::vector<std::size_t>& active, Ns begin, Ns end)
    {
        Ns at = begin;
        while (at < end) {
            Ns until = end;
            std::size_t best = active.front();
            bool bestTransfers = false;
            for (const std::size_t p : active) {
                const SplitPart& part = parts_[p];
                const Ns change = part.entry + (part.unsplit ? 0 : waitOf(part, view_));
                const bool transfers = at >= change;
                if (!transfers)
                    until = std::min(until, change);
                if (p == active.front()
                    || std::pair(!transfers, exitOrder(p)) < std::pair(!bestTransfers, exitOrder(best))) {
                    best = p;
                    bestTransfers = transfers;
                }
            }
            until = putCommunication(best, bestTransfers, at, until);
            at = until;
        }
    }

    std::tuple<Ns, std::int64_t, std::int64_t, std::size_t> exitOrder(std::size_t p) const
    {
        const Instance& instance = input_.instances[rank_.parts[p].instance];
        return { -parts_[p].exit, instance.communicator, instance.sequence, p };
    }

    Ns putCommunication(std::size_t p, bool transfers, Ns begin, Ns end)
    {
        const SplitPart& part = parts_[p];
        Segment segment{ begin, end, transfers ? Label::Transfer : Label::Wait };
        segment.part = static_cast<std::int32_t>(p);
        if (part.unsplit)
            segment.label = Label::Unsplit;
        else if (transfers && part.ideal >= 0) {
            const Ns excessFrom = part.entry + waitOf(part, view_) + part.ideal;
            segment.excess = begin >= excessFrom;
            if (!segment.excess)
                segment.end = std::min(end, excessFrom);
        }
        put(segment);
        return segment.end;
    }

    void gap(const Gap& gap)
    {
        std::vector<Ns> cuts{ gap.begin, gap.end };
        cutsWithin(checkpoints_, gap.begin, gap.end, cuts);
        cutsWithin(data_, gap.begin, gap.end, cuts);
        std::vector<std::size_t> hostParts;
        for (const std::size_t p : hostParts_) {
            if (parts_[p].entry < gap.end && parts_[p].exit > gap.begin) {
                hostParts.push_back(p);
                cuts.push_back(std::clamp(parts_[p].entry, gap.begin, gap.end));
                cuts.push_back(std::clamp(parts_[p].exit, gap.begin, gap.end));
            }
        }
        if (gap.launch)
            cuts.push_back(std::clamp(*gap.launch, gap.begin, gap.end));
        std::ranges::sort(cuts);
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
            gapPiece(gap, cuts[i], cuts[i + 1], hostParts);
    }

    void gapPiece(const Gap& gap, Ns begin, Ns end, const std::vector<std::size_t>& hostParts)
    {
        if (covers(checkpoints_, begin))
            return put({ begin, end, Label::Checkpoint });
        if (covers(data_, begin))
            return put({ begin, end, Label::Data });
        std::vector<std::size_t> active;
        std::ranges::copy_if(hostParts, std::back_inserter(active),
            [&](std::size_t p) { return parts_[p].entry <= begin && end <= parts_[p].exit; });
        if (!active.empty())
            return communication(active, begin, end);
        if (gap.reachesEnd)
            return put({ begin, end, Label::Tail });
        if (gap.launch && *gap.launch > gap.begin)
            return put({ begin, end, begin < *gap.launch ? Label::Host : Label::Launch });
        put({ begin, end, gap.end - gap.begin <= input_.kernelGap ? Label::KernelGap : Label::Unattributed });
    }

    void put(const Segment& segment)
    {
        if (segment.end <= segment.begin)
            return;
        if (!out_.empty()) {
            Segment& last = out_.back();
            const bool same = last.end == segment.begin && last.label == segment.label && last.part == segment.part
                && last.excess == segment.excess && segment.begin != stretchBegin_;
            if (same) {
                last.end = segment.end;
                return;
            }
        }
        out_.push_back(segment);
    }

    const LedgerInput& input_;
    const RankInput& rank_;
    const std::vector<SplitPart>& parts_;
    const ClockView view_;
    Intervals checkpoints_, data_;
    std::vector<std::size_t> hostParts_;
    using End = std::pair<Ns, OpRef>;
    std::vector<OpRef> begins_; ///< by their instants
    std::size_t next_ = 0; ///< of begins_
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_; ///< of what is under way
    int activeCompute_ = 0;
    int activeCopies_ = 0;
    std::vector<std::size_t> activeParts_;
    Ns stretchBegin_ = 0;
    std::vector<Segment> out_;
};

/// Level 0 over level 1: where the job was not in a committed step its label counts.
class Overlay {
public:
    explicit Overlay(const std::vector<LifecycleSpan>& lifecycle)
        : lifecycle_(lifecycle)
    {
    }

    void add(const std::vector<Segment>& inside)
    {
        for (const Segment& segment : inside) {
            Ns at = segment.begin;
            while (at < segment.end) {
                while (span_ < lifecycle_.size() && lifecycle_[span_].end <= at)
                    ++span_;
                Segment piece = segment;
                piece.begin = at;
                if (span_ < lifecycle_.size()) {
                    piece.end = std::min(segment.end, lifecycle_[span_].end);
                    piece.step = lifecycle_[span_].step;
                    if (lifecycle_[span_].label != Label::Compute) {
                        piece.label = lifecycle_[span_].label;
                        piece.part = -1;
                        piece.excess = false;
                    }
                }
                at = piece.end;
                out_.push_back(piece);
            }
        }
    }

    std::vector<Segment> take()
    {
        out_.shrink_to_fit(); // they stay as long as the ledger
        return std::move(out_);
    }

private:
    const std::vector<LifecycleSpan>& lifecycle_;
    std::size_t span_ = 0;
    std::vector<Segment> out_;
};

} // namespace

std::vector<Segment> labelRank(const LedgerInput& input, std::size_t rankIndex, const std::vector<SplitPart>& parts,
    const std::vector<LifecycleSpan>& lifecycle, ClockView view)
{
    Overlay overlay(lifecycle);
    StretchLabeller(input, input.ranks[rankIndex], parts, view).run([&](const std::vector<Segment>& inside) {
        overlay.add(inside);
    });
    return overlay.take();
}

Ns overlapOf(const RankInput& rank, const std::vector<SplitPart>& parts)
{
    std::vector<Window> compute, communication;
    compute.reserve(rank.compute.size());
    for (const ComputeOp& op : rank.compute)
        compute.push_back({ op.begin, op.end });
    for (std::size_t p = 0; p < parts.size(); ++p) {
        if (!rank.parts[p].onHost)
            communication.push_back({ parts[p].entry, parts[p].exit });
    }
    std::vector<Window> window;
    for (const Stretch& stretch : rank.stretches)
        window.push_back({ stretch.begin, stretch.end });
    return totalNs(intersection(
        intersection(unionOf(std::move(compute)), unionOf(std::move(communication))), unionOf(std::move(window))));
}

} // namespace rankscope::tracing::ledger
