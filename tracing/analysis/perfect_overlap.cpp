#include "tracing/analysis/perfect_overlap.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace rankscope::tracing {

namespace {

using ledger::Label;
using ledger::Ns;

constexpr Window kAlways{ std::numeric_limits<Ns>::min() / 4, std::numeric_limits<Ns>::max() / 4 };

bool isIn(const Window& stretch, Ns instant) { return stretch.beginNs <= instant && instant < stretch.endNs; }

/// Begin of the last backward pass, behind the last forward pass.
std::optional<Ns> lastBackward(const ledger::RankInput& rank, const Window& stretch)
{
    std::optional<Ns> lastForward, begin;
    for (const ledger::ComputeOp& op : rank.compute) {
        if (op.pass == Pass::Forward && isIn(stretch, op.begin))
            lastForward = std::max(lastForward.value_or(op.begin), op.begin);
    }
    for (const ledger::ComputeOp& op : rank.compute) {
        if (op.pass == Pass::Backward && isIn(stretch, op.begin) && op.begin > lastForward)
            begin = std::min(begin.value_or(op.begin), op.begin);
    }
    return begin;
}

bool sumsGradients(const ledger::Instance& instance)
{
    return instance.dimension == Dimension::Data
        && (instance.op == CollectiveOp::AllReduce || instance.op == CollectiveOp::ReduceScatter);
}

/// Time between the instants in which no exchange is all that goes on.
Ns ownTime(const std::vector<ledger::Segment>& segments, Ns from, Ns to)
{
    Ns own = 0;
    for (auto it = std::ranges::upper_bound(segments, from, {}, &ledger::Segment::end);
         it != segments.end() && it->begin < to; ++it) {
        if (it->label != Label::Transfer && it->label != Label::Wait)
            own += std::min(it->end, to) - std::max(it->begin, from);
    }
    return own;
}

Ns leastOf(const ledger::RankInput& rank, const ledger::RankLedger& recorded,
    const std::vector<ledger::Instance>& instances, const Window& stretch)
{
    Ns transfers = 0, sums = 0, lastSum = 0;
    for (std::size_t p = 0; p < recorded.parts.size(); ++p) {
        const ledger::SplitPart& part = recorded.parts[p];
        if (part.unsplit || !isIn(stretch, part.entry))
            continue;
        const Ns transfer = part.exit - part.entry - part.wait;
        transfers += transfer;
        if (sumsGradients(instances[rank.parts[p].instance])) {
            sums += transfer;
            lastSum = std::max(lastSum, part.exit);
        }
    }
    const auto backward = sums > 0 ? lastBackward(rank, stretch) : std::nullopt;
    if (!backward)
        return transfers;
    return std::max(transfers,
        ownTime(recorded.segments, stretch.beginNs, *backward) + sums
            + ownTime(recorded.segments, lastSum, stretch.endNs));
}

} // namespace

std::int64_t leastOverlappedNs(
    const ledger::LedgerInput& input, const ledger::LedgerResult& recorded, std::span<const Window> stretches)
{
    const std::span<const Window> all = stretches.empty() ? std::span(&kAlways, 1) : stretches;
    Ns most = 0;
    for (std::size_t r = 0; r < input.ranks.size(); ++r) {
        Ns least = 0;
        for (const Window& stretch : all)
            least += leastOf(input.ranks[r], recorded.ranks[r], input.instances, stretch);
        most = std::max(most, least);
    }
    return most;
}

} // namespace rankscope::tracing
