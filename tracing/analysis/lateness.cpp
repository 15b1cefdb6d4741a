#include "tracing/analysis/lateness.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace rankscope::tracing {

namespace {

using ledger::Label;
using ledger::Segment;

/// A rank that has more than this times the median of its peers is out of line with them.
constexpr std::int64_t kOutOfLine = 2;

std::vector<Window> stretchesOf(const ledger::RankLedger& rank, Label label, Window window)
{
    std::vector<Window> stretches;
    for (const Segment& segment : rank.segments) {
        const Window inside{ std::max(segment.begin, window.beginNs), std::min(segment.end, window.endNs) };
        if (segment.label == label && inside.durationNs() > 0)
            stretches.push_back(inside);
    }
    return stretches;
}

std::int64_t lengthOf(const std::vector<Window>& stretches)
{
    std::int64_t sum = 0;
    for (const Window& stretch : stretches)
        sum += stretch.durationNs();
    return sum;
}

/// Time of disjoint, sorted stretches before an instant, in logarithmic time.
class Coverage {
public:
    explicit Coverage(const std::vector<Window>& stretches)
        : stretches_(stretches)
    {
        std::int64_t sum = 0;
        for (const Window& stretch : stretches) {
            before_.push_back(sum);
            sum += stretch.durationNs();
        }
    }

    std::int64_t within(Window window) const { return before(window.endNs) - before(window.beginNs); }

private:
    std::int64_t before(std::int64_t at) const
    {
        const auto next = std::ranges::upper_bound(stretches_, at, {}, &Window::beginNs);
        if (next == stretches_.begin())
            return 0;
        const auto index = static_cast<std::size_t>(next - stretches_.begin()) - 1;
        return before_[index] + std::min(at, stretches_[index].endNs) - stretches_[index].beginNs;
    }

    const std::vector<Window>& stretches_;
    std::vector<std::int64_t> before_;
};

struct Covering {
    std::int64_t ns = 0;
    std::int32_t depth = 0;
};

/// The innermost range that covers more than half of the stretches. Steps and micro-batches say nothing: they cover
/// everything.
Status findHostRange(TraceReader& reader, const RunFacts& facts, const std::vector<Window>& stretches, Lateness& late)
{
    if (stretches.empty())
        return Done{};
    const Coverage coverage(stretches);
    const Window whole{ stretches.front().beginNs, stretches.back().endNs };
    for (const Lane& lane : facts.lanes) {
        if (lane.rank != late.rank || lane.kind != LaneKind::Host)
            continue;
        std::map<std::int32_t, Covering> byName;
        const Status status = reader.visit<Range>(lane.id, whole, [&](std::span<const Range> ranges) {
            for (const Range& range : ranges) {
                if (range.kind == RangeKind::Step || range.kind == RangeKind::MicroBatch)
                    continue;
                Covering& covering = byName[raw(range.name)];
                covering.ns += coverage.within({ range.beginNs, range.endNs });
                covering.depth = std::max(covering.depth, range.depth);
            }
            return true;
        });
        if (!status)
            return status;
        Covering best{ 0, -1 };
        for (const auto& [name, covering] : byName) {
            const auto index = static_cast<std::size_t>(name);
            if (2 * covering.ns <= late.causeNs || covering.depth <= best.depth || index >= facts.names.size())
                continue;
            best = covering;
            late.hostRange = facts.names[index];
            late.hostRangeNs = std::min(covering.ns, late.causeNs);
        }
        if (!late.hostRange.empty())
            return Done{};
    }
    return Done{};
}

using Kind = std::tuple<CollectiveOp, Dimension>;

class LatenessTable {
public:
    LatenessTable(
        const LedgerSource& source, const ledger::LedgerResult& result, const std::vector<bool>& steps, Window window)
        : source_(source)
        , result_(result)
        , window_(window)
    {
        addRows(steps);
        addInstances();
    }

    std::vector<Lateness> take()
    {
        std::vector<Lateness> all;
        for (auto& [rank, late] : byRank_) {
            std::ranges::stable_sort(late.causes, std::ranges::greater(), &Lateness::Cause::ns);
            setOwn(late);
            all.push_back(std::move(late));
        }
        std::ranges::stable_sort(all, std::ranges::greater(), &Lateness::costNs);
        return all;
    }

private:
    void addRows(const std::vector<bool>& steps)
    {
        for (const ledger::LedgerRow& row : result_.rows) {
            const bool counts
                = row.step < 0 ? steps.empty() : steps.empty() || steps[static_cast<std::size_t>(row.step)];
            const bool caused = row.leaf.leaf == ledger::Leaf::Wait || row.leaf.leaf == ledger::Leaf::BubbleImbalance;
            if (!counts || !caused || !row.culprit || row.ns <= 0)
                continue;
            Lateness& late = byRank_[*row.culprit];
            late.rank = *row.culprit;
            late.waitNs += row.ns;
            late.waitLowNs += row.low;
            const auto cause = std::ranges::find(late.causes, row.cause, &Lateness::Cause::cause);
            if (cause == late.causes.end())
                late.causes.push_back({ row.cause, row.ns });
            else
                cause->ns += row.ns;
            insert(late.waiting, row.rank);
        }
    }

    static void insert(std::vector<std::int32_t>& ranks, std::int32_t rank)
    {
        const auto place = std::ranges::lower_bound(ranks, rank);
        if (place == ranks.end() || *place != rank)
            ranks.insert(place, rank);
    }

    /// Entries of one instance.
    struct Entries {
        std::int64_t first = 0;
        std::int32_t firstRank = 0;
        std::int64_t count = 0;
    };

    void addInstances()
    {
        std::vector<Entries> entries(source_.input.instances.size());
        for (const ledger::RankInput& rank : source_.input.ranks) {
            for (const ledger::PartOp& part : rank.parts) {
                if (part.end <= window_.beginNs || part.begin >= window_.endNs)
                    continue;
                Entries& own = entries[part.instance];
                if (own.count++ == 0 || part.begin < own.first) {
                    own.first = part.begin;
                    own.firstRank = rank.rank;
                }
            }
        }
        for (std::size_t r = 0; r < result_.ranks.size(); ++r) {
            for (std::size_t p = 0; p < result_.ranks[r].parts.size(); ++p)
                addPart(result_.ranks[r].parts[p], source_.input.ranks[r].parts[p].instance, entries);
        }
        std::map<Kind, std::int64_t> counts;
        for (std::size_t i = 0; i < entries.size(); ++i)
            counts[kindOf(i)] += entries[i].count >= 2 ? 1 : 0;
        for (auto& [rank, late] : byRank_) {
            for (const Kind& kind : kinds_[rank])
                late.count += counts[kind];
            late.lateCount = std::ssize(lateTo_[rank]);
            if (kinds_[rank].size() == 1)
                std::tie(late.op, late.dimension) = *kinds_[rank].begin();
        }
    }

    Kind kindOf(std::size_t instance) const
    {
        const ledger::Instance& own = source_.input.instances[instance];
        return { own.op, own.dimension };
    }

    void addPart(const ledger::SplitPart& part, std::size_t instance, const std::vector<Entries>& entries)
    {
        if (part.late < 0 || part.wait <= 0 || part.exit <= window_.beginNs || part.entry >= window_.endNs)
            return;
        const auto found = byRank_.find(result_.ranks[static_cast<std::size_t>(part.late)].rank);
        if (found == byRank_.end())
            return;
        Lateness& late = found->second;
        lateTo_[late.rank].insert(instance);
        kinds_[late.rank].insert(kindOf(instance));
        if (part.culprits.size() > 1) {
            for (const std::int32_t other : part.culprits) {
                if (other != late.rank)
                    insert(late.mistakable, other);
            }
        }
        if (part.wait > late.evidence.durationNs()) {
            late.evidence = { part.entry, part.entry + part.wait };
            late.firstRank = entries[instance].firstRank;
            late.delayNs = part.entry + part.wait - entries[instance].first;
        }
    }

    void setOwn(Lateness& late) const
    {
        const std::optional<Label> label = labelOfCause(late.causes.front().cause);
        if (!label)
            return;
        std::vector<std::int64_t> peers;
        for (const ledger::RankLedger& rank : result_.ranks) {
            const std::int64_t ns = lengthOf(stretchesOf(rank, *label, window_));
            if (rank.rank == late.rank)
                late.causeNs = ns;
            else
                peers.push_back(ns);
        }
        std::ranges::sort(peers);
        late.peersCauseNs = peers.empty() ? 0 : peers[peers.size() / 2];
        const bool idles = *label != Label::Compute && *label != Label::Descheduled;
        if (idles && !peers.empty() && late.causeNs > kOutOfLine * late.peersCauseNs)
            late.ownNs = late.causeNs;
    }

    const LedgerSource& source_;
    const ledger::LedgerResult& result_;
    const Window window_;
    std::map<std::int32_t, Lateness> byRank_;
    std::map<std::int32_t, std::set<std::size_t>> lateTo_; ///< instances
    std::map<std::int32_t, std::set<Kind>> kinds_;
};

} // namespace

std::optional<Label> labelOfCause(std::string_view cause)
{
    if (cause == "compute" || cause == "compute_amount" || cause == "compute_speed")
        return Label::Compute;
    if (cause == "descheduled")
        return Label::Descheduled;
    if (cause == "network")
        return Label::Transfer;
    if (cause == "copy")
        return Label::Copy;
    if (cause == "data")
        return Label::Data;
    if (cause == "checkpoint")
        return Label::Checkpoint;
    if (cause == "host")
        return Label::Host;
    if (cause == "launch")
        return Label::Launch;
    if (cause == "kernel_gap")
        return Label::KernelGap;
    if (cause == "planned")
        return Label::Planned;
    if (cause == "unattributed")
        return Label::Unattributed;
    return std::nullopt;
}

Result<std::vector<Lateness>> latenessOf(TraceReader& reader, const RunFacts& facts, const LedgerSource& source,
    const ledger::LedgerResult& result, const std::vector<bool>& steps, Window window)
{
    constexpr std::size_t kLookedUp = 4; // the ranks that cost most
    std::vector<Lateness> all = LatenessTable(source, result, steps, window).take();
    for (std::size_t i = 0; i < std::min(all.size(), kLookedUp); ++i) {
        const std::optional<Label> label = labelOfCause(all[i].causes.front().cause);
        const auto rank = std::ranges::find(result.ranks, all[i].rank, &ledger::RankLedger::rank);
        const bool onDevice = label == Label::Compute || label == Label::Transfer || label == Label::Descheduled;
        if (!label || onDevice || rank == result.ranks.end())
            continue;
        if (const Status status = findHostRange(reader, facts, stretchesOf(*rank, *label, window), all[i]); !status)
            return status.error();
    }
    return all;
}

} // namespace rankscope::tracing
