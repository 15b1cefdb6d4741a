#include "tracing/analysis/ledger/collective_split.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace rankscope::tracing::ledger {

InstanceIndex::InstanceIndex(const LedgerInput& input)
    : input_(input)
    , parts_(input.instances.size())
    , lastEntry_(input.instances.size(), std::numeric_limits<Ns>::min())
    , groupsOfRank_(input.ranks.size())
{
    for (std::size_t r = 0; r < input.ranks.size(); ++r) {
        const RankInput& rank = input.ranks[r];
        rankIndex_[rank.rank] = static_cast<std::int32_t>(r);
        for (std::size_t p = 0; p < rank.parts.size(); ++p) {
            const PartOp& part = rank.parts[p];
            parts_[part.instance].push_back({ static_cast<std::int32_t>(r), p, part.begin, part.end });
            lastEntry_[part.instance] = std::max(lastEntry_[part.instance], part.begin);
        }
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (!parts_[i].empty())
            order_.push_back(i);
    }
    std::ranges::sort(order_, {}, [&](std::size_t i) {
        return std::tuple(lastEntry_[i], input.instances[i].communicator, input.instances[i].sequence, i);
    });

    // Instances with the same ranks present form a group, so that a pair's last shared instance is a binary search.
    std::map<std::vector<std::int32_t>, std::size_t> numbers;
    for (const std::size_t i : order_) {
        std::vector<std::int32_t> present;
        for (const PartRef& part : parts_[i])
            present.push_back(part.rank);
        const auto [it, isNew] = numbers.try_emplace(present, groups_.size());
        if (isNew) {
            groups_.emplace_back();
            inGroup_.emplace_back(input.ranks.size(), false);
            for (const std::int32_t r : present) {
                inGroup_.back()[static_cast<std::size_t>(r)] = true;
                groupsOfRank_[static_cast<std::size_t>(r)].push_back(static_cast<std::int32_t>(it->second));
            }
        }
        groups_[it->second].push_back(i);
    }
}

std::optional<std::int32_t> InstanceIndex::rankIndex(std::int32_t worldRank) const
{
    const auto it = rankIndex_.find(worldRank);
    return it == rankIndex_.end() ? std::nullopt : std::optional(it->second);
}

bool InstanceIndex::dependsOn(std::size_t instanceIndex, std::int32_t rank, std::int32_t peer) const
{
    const Instance& instance = input_.instances[instanceIndex];
    switch (instance.op) {
    case CollectiveOp::Broadcast:
    case CollectiveOp::Scatter:
        return !instance.root || (rank != *instance.root && peer == *instance.root);
    case CollectiveOp::Reduce:
    case CollectiveOp::Gather:
        return !instance.root || rank == *instance.root;
    case CollectiveOp::AllToAll: {
        if (instance.bytesMoved.empty())
            return true;
        const auto position = [&](std::int32_t worldRank) {
            return static_cast<std::size_t>(std::ranges::find(instance.members, worldRank) - instance.members.begin());
        };
        const auto moved = [&](std::size_t from, std::size_t to) {
            return from < instance.bytesMoved.size() && to < instance.bytesMoved[from].size()
                && instance.bytesMoved[from][to] > 0;
        };
        return moved(position(rank), position(peer)) || moved(position(peer), position(rank));
    }
    default:
        return true;
    }
}

std::int32_t InstanceIndex::dependencyCount(std::size_t instance, std::int32_t rank) const
{
    std::int32_t count = 0;
    for (const std::int32_t member : input_.instances[instance].members)
        count += member != rank && dependsOn(instance, rank, member) ? 1 : 0;
    return count;
}

Ns InstanceIndex::lastSharedEntry(std::int32_t a, std::int32_t b, Ns limit, Ns floor) const
{
    Ns latest = floor;
    for (const std::int32_t group : groupsOfRank_[static_cast<std::size_t>(a)]) {
        const auto g = static_cast<std::size_t>(group);
        if (!inGroup_[g][static_cast<std::size_t>(b)])
            continue;
        const auto after
            = std::ranges::upper_bound(groups_[g], limit, {}, [&](std::size_t i) { return lastEntry_[i]; });
        if (after != groups_[g].begin())
            latest = std::max(latest, lastEntry_[*std::prev(after)]);
    }
    return latest;
}

} // namespace rankscope::tracing::ledger
