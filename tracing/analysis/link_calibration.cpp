#include "tracing/analysis/link_calibration.h"

#include <algorithm>
#include <vector>

namespace rankscope::tracing {

namespace {

bool hasRoot(CollectiveOp op)
{
    return op == CollectiveOp::Broadcast || op == CollectiveOp::Scatter || op == CollectiveOp::Reduce
        || op == CollectiveOp::Gather;
}

} // namespace

std::vector<RankPair> linksOf(const ledger::Instance& instance)
{
    std::vector<RankPair> pairs;
    const std::vector<std::int32_t>& members = instance.members;
    if (isPointToPoint(instance.op)) {
        if (instance.source && instance.destination)
            pairs.emplace_back(*instance.source, *instance.destination);
        return pairs;
    }
    const bool sends = instance.op == CollectiveOp::Broadcast || instance.op == CollectiveOp::Scatter;
    for (std::size_t i = 0; i < members.size() && members.size() > 1; ++i) {
        if (instance.op == CollectiveOp::AllToAll) {
            for (const std::int32_t to : members)
                pairs.emplace_back(members[i], to);
        } else if (!hasRoot(instance.op)) {
            pairs.emplace_back(members[i], members[(i + 1) % members.size()]);
        } else if (instance.root) {
            pairs.emplace_back(sends ? *instance.root : members[i], sends ? members[i] : *instance.root);
        }
    }
    std::erase_if(pairs, [](const auto& pair) { return pair.first == pair.second; });
    return pairs;
}

LinkCalibration::LinkCalibration(std::span<const LinkSpeed> links)
{
    for (const LinkSpeed& link : links)
        links_[{ link.from, link.to }] = link;
}

std::optional<ledger::Calibration> LinkCalibration::of(const ledger::Instance& instance)
{
    if (links_.empty())
        return std::nullopt;
    const Key key{ instance.communicator, instance.op, instance.source ? instance.source : instance.root,
        instance.destination };
    const auto known = known_.find(key);
    return known != known_.end() ? known->second : known_.emplace(key, slowest(instance)).first->second;
}

std::optional<ledger::Calibration> LinkCalibration::slowest(const ledger::Instance& instance) const
{
    std::optional<ledger::Calibration> slowest;
    for (const auto& pair : linksOf(instance)) {
        const auto link = links_.find(pair);
        if (link == links_.end())
            return std::nullopt;
        if (!slowest)
            slowest = { link->second.latencyNs, link->second.bytesPerSecond };
        slowest->alpha = std::max(slowest->alpha, link->second.latencyNs);
        slowest->busbwBytesPerSecond = std::min(slowest->busbwBytesPerSecond, link->second.bytesPerSecond);
    }
    return slowest;
}

} // namespace rankscope::tracing
