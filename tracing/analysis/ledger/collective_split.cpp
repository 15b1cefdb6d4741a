#include "tracing/analysis/ledger/collective_split.h"

#include "tracing/analysis/ledger/largest_remainder.h"

#include <algorithm>

namespace rankscope::tracing::ledger {

namespace {

/// Somebody a part depends on, present in the file.
struct Peer {
    std::int32_t rank = 0; ///< index
    Ns entry = 0;
    Ns exit = 0;
};

/// Clock error between two ranks: none where they read one clock.
Ns pairError(const RankInput& a, const RankInput& b)
{
    if (a.rank == b.rank || (a.clock && a.clock == b.clock))
        return 0;
    return a.clockError + b.clockError;
}

class Splitter {
public:
    Splitter(const LedgerInput& input, const InstanceIndex& index, LedgerResult& result)
        : input_(input)
        , index_(index)
        , result_(result)
    {
    }

    void splitRank(std::size_t r)
    {
        const RankInput& rank = input_.ranks[r];
        std::map<std::int64_t, std::vector<std::size_t>> launchGroups;
        for (std::size_t p = 0; p < rank.parts.size(); ++p) {
            if (rank.parts[p].launchGroup)
                launchGroups[*rank.parts[p].launchGroup].push_back(p);
        }
        auto& parts = result_.ranks[r].parts;
        parts.reserve(rank.parts.size());
        for (std::size_t p = 0; p < rank.parts.size(); ++p) {
            const std::vector<std::size_t> alone{ p };
            const auto& group = rank.parts[p].launchGroup ? launchGroups[*rank.parts[p].launchGroup] : alone;
            parts.push_back(split(r, p, group));
        }
    }

private:
    void gather(std::size_t r, std::size_t instance, std::vector<Peer>& peers, SplitPart& split, bool& missing) const
    {
        const std::int32_t world = input_.ranks[r].rank;
        std::int32_t present = 0;
        for (const auto& other : index_.parts(instance)) {
            const std::int32_t otherWorld = input_.ranks[static_cast<std::size_t>(other.rank)].rank;
            if (otherWorld == world || !index_.dependsOn(instance, world, otherWorld))
                continue;
            peers.push_back({ other.rank, other.entry, other.exit });
            ++present;
        }
        split.absentMembers += std::max(0, index_.dependencyCount(instance, world) - present);
        for (const std::int32_t member : input_.instances[instance].members) {
            // A member whose rank is recorded but has not entered: it may still come.
            if (member != world && index_.rankIndex(member) && index_.dependsOn(instance, world, member)
                && std::ranges::none_of(index_.parts(instance),
                    [&](const auto& part) { return input_.ranks[static_cast<std::size_t>(part.rank)].rank == member; }))
                missing = true;
        }
    }

    Ns stretchEnd(const RankInput& rank, Ns at) const
    {
        for (const Stretch& stretch : rank.stretches) {
            if (at < stretch.end)
                return std::max(stretch.end, at);
        }
        return at;
    }

    SplitPart split(std::size_t r, std::size_t p, const std::vector<std::size_t>& group)
    {
        const RankInput& rank = input_.ranks[r];
        const PartOp& part = rank.parts[p];
        const Instance& instance = input_.instances[part.instance];
        SplitPart out;
        const bool open = part.end == kStillOpen;
        out.entry = part.begin;
        out.exit = open ? stretchEnd(rank, part.begin) : std::max(part.begin, part.end);
        result_.negativeDurations += part.end < part.begin ? 1 : 0;
        const Ns duration = out.exit - out.entry;
        if (const auto calibration = input_.calibration.find(instance.dimension); instance.calibration)
            out.ideal = idealTransfer(instance, *instance.calibration);
        else if (calibration != input_.calibration.end())
            out.ideal = idealTransfer(instance, calibration->second);

        std::vector<Peer> peers;
        bool missing = false;
        for (const std::size_t member : group)
            gather(r, rank.parts[member].instance, peers, out, missing);

        if (isEager(r, part, out)) {
            out.eager = true;
            ++result_.eagerSends;
            return out;
        }
        if (open && missing && input_.lifecycle && input_.lifecycle->live) {
            out.wait = out.waitLow = out.waitHigh = duration;
            return out;
        }
        if (peers.empty()) {
            out.unsplit = out.absentMembers > 0 || (instance.members.empty() && isPointToPoint(instance.op));
            out.waitHigh = out.unsplit ? duration : 0;
            return out;
        }
        measure(r, peers, out);
        return out;
    }

    bool isEager(std::size_t r, const PartOp& part, const SplitPart& split) const
    {
        const Instance& instance = input_.instances[part.instance];
        if (!isPointToPoint(instance.op) || instance.source != input_.ranks[r].rank)
            return false;
        return std::ranges::any_of(index_.parts(part.instance), [&](const auto& other) {
            return input_.ranks[static_cast<std::size_t>(other.rank)].rank == instance.destination
                && split.exit < other.entry;
        });
    }

    void measure(std::size_t r, const std::vector<Peer>& peers, SplitPart& out)
    {
        const RankInput& rank = input_.ranks[r];
        const Ns duration = out.exit - out.entry;
        Ns latest = out.entry;
        out.late = static_cast<std::int32_t>(r);
        Ns low = 0, high = 0;
        Ns firstExit = out.exit;
        bool beyond = false;
        for (const Peer& peer : peers) {
            const RankInput& other = input_.ranks[static_cast<std::size_t>(peer.rank)];
            const Ns error = pairError(rank, other);
            const bool tieLower
                = peer.entry == latest && other.rank < input_.ranks[static_cast<std::size_t>(out.late)].rank;
            if (peer.entry > latest || tieLower) {
                latest = peer.entry;
                out.late = peer.rank;
            }
            low = std::max(low, peer.entry - out.entry - error);
            high = std::max(high, peer.entry - out.entry + error);
            if (peer.exit != kStillOpen)
                firstExit = std::min(firstExit, peer.exit + error);
            beyond = beyond || out.exit < peer.entry - error;
        }
        if (out.absentMembers > 0)
            high = std::max(high, firstExit - out.entry);
        out.wait = std::min(duration, latest - out.entry);
        out.waitLow = std::min(duration, low);
        out.waitHigh = std::min(duration, high);
        out.early = out.exit < latest;
        out.beyondError = beyond;
        result_.orderViolations += out.early ? 1 : 0;
        result_.violationsBeyondError += beyond ? 1 : 0;
        findCulprits(r, peers, out);
    }

    /// Those q for which nobody, rank itself included, surely entered later.
    void findCulprits(std::size_t r, const std::vector<Peer>& peers, SplitPart& out) const
    {
        std::vector<Peer> everybody = peers;
        everybody.push_back({ static_cast<std::int32_t>(r), out.entry, out.exit });
        for (const Peer& q : peers) {
            const RankInput& rankQ = input_.ranks[static_cast<std::size_t>(q.rank)];
            const bool surelyNot = std::ranges::any_of(everybody, [&](const Peer& p) {
                return p.entry - q.entry > pairError(input_.ranks[static_cast<std::size_t>(p.rank)], rankQ);
            });
            if (!surelyNot)
                out.culprits.push_back(rankQ.rank);
        }
        std::ranges::sort(out.culprits);
        out.culprits.erase(std::unique(out.culprits.begin(), out.culprits.end()), out.culprits.end());
    }

    const LedgerInput& input_;
    const InstanceIndex& index_;
    LedgerResult& result_;
};

} // namespace

Ns idealTransfer(const Instance& instance, const Calibration& calibration)
{
    const auto n = static_cast<std::int64_t>(std::max<std::size_t>(1, instance.members.size()));
    std::int64_t hops = 1;
    std::int64_t numerator = 1, denominator = 1; // factor of METRICS 4.1
    switch (instance.op) {
    case CollectiveOp::AllReduce:
    case CollectiveOp::Barrier:
    case CollectiveOp::Unknown:
        hops = 2 * (n - 1);
        numerator = 2 * (n - 1);
        denominator = n;
        break;
    case CollectiveOp::ReduceScatter:
    case CollectiveOp::AllGather:
    case CollectiveOp::AllToAll:
        hops = n - 1;
        numerator = n - 1;
        denominator = n;
        break;
    case CollectiveOp::Broadcast:
    case CollectiveOp::Reduce:
    case CollectiveOp::Gather:
    case CollectiveOp::Scatter:
        hops = n - 1;
        break;
    default:
        break;
    }
    const Ns latency = calibration.alpha * hops;
    if (calibration.busbwBytesPerSecond <= 0)
        return latency;
    // The sum is rounded, not the parts; latency is whole already.
    return latency
        + mulDivHalfUp(instance.size * numerator, 1'000'000'000, calibration.busbwBytesPerSecond * denominator);
}

void splitCollectives(const LedgerInput& input, const InstanceIndex& index, LedgerResult& result)
{
    Splitter splitter(input, index, result);
    for (std::size_t r = 0; r < input.ranks.size(); ++r)
        splitter.splitRank(r);
}

} // namespace rankscope::tracing::ledger
