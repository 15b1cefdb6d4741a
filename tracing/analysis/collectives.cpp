#include "tracing/analysis/collectives.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace rankscope::tracing {

namespace {

double busFactor(CollectiveOp op, int ranks)
{
    const double n = ranks;
    switch (op) {
    case CollectiveOp::AllReduce:
        return 2 * (n - 1) / n;
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter:
    case CollectiveOp::AllToAll:
        return (n - 1) / n;
    default:
        return 1;
    }
}

/// A send and its receive are one instance, counted as a send.
CollectiveOp rowOp(CollectiveOp op) { return op == CollectiveOp::Receive ? CollectiveOp::Send : op; }

struct InstanceSum {
    std::int64_t waitNs = 0;
    std::int64_t transferNs = 0;
    std::int64_t unsplitNs = 0;
    std::int64_t bytes = 0;
    CollectiveOp op = CollectiveOp::Unknown;
    Dimension dimension = Dimension::None;
};

struct Group {
    CollectiveRow row;
    double busBytes = 0; ///< bytes times factor, of instances with a known wire time
    double wireBytes = 0;
    std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>> late; ///< rank: (wait caused, times)
};

std::unordered_map<std::int64_t, InstanceSum> sumByInstance(std::span<const SplitPart> parts, Window window)
{
    std::unordered_map<std::int64_t, InstanceSum> sums;
    for (const SplitPart& part : parts) {
        if (part.endNs <= window.beginNs || part.beginNs >= window.endNs)
            continue;
        InstanceSum& sum = sums[raw(part.instance)];
        sum.op = rowOp(part.op);
        sum.dimension = part.dimension;
        sum.bytes = std::max(sum.bytes, part.bytes);
        sum.waitNs += part.waitNs();
        sum.transferNs += part.transferNs();
        sum.unsplitNs += part.isSplit ? 0 : part.endNs - part.beginNs;
    }
    return sums;
}

void addMatch(Group& group, const CollectiveMatch& match, const InstanceSum& sum)
{
    const std::int64_t wireNs = match.lastExitNs - match.lastEntryNs;
    const int ranks = std::max(match.partsExpected, match.partsPresent);
    if (match.partsPresent >= 2 && wireNs > 0) {
        group.row.wireNs += wireNs;
        group.wireBytes += static_cast<double>(sum.bytes);
        group.busBytes += static_cast<double>(sum.bytes) * busFactor(sum.op, ranks);
    }
    if (match.lateRank) {
        auto& [waitNs, times] = group.late[*match.lateRank];
        waitNs += sum.waitNs;
        ++times;
    }
}

CollectiveRow finished(const Group& group)
{
    CollectiveRow row = group.row;
    if (row.wireNs > 0) {
        row.algbwGBps = group.wireBytes / static_cast<double>(row.wireNs);
        row.busbwGBps = group.busBytes / static_cast<double>(row.wireNs);
    }
    const auto latest = std::max_element(group.late.begin(), group.late.end(),
        [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
    if (latest != group.late.end() && latest->second.first > 0) {
        row.lateRank = latest->first;
        row.waitForLateNs = latest->second.first;
        row.lateCount = latest->second.second;
    }
    return row;
}

std::int64_t totalTimeNs(const CollectiveRow& row) { return row.waitNs + row.transferNs + row.unsplitNs; }

} // namespace

double algorithmBandwidthGBps(std::int64_t bytes, std::int64_t ns)
{
    return ns > 0 ? static_cast<double>(bytes) / static_cast<double>(ns) : 0;
}

double busBandwidthGBps(CollectiveOp op, std::int64_t bytes, std::int64_t ns, int ranks)
{
    return ranks > 1 ? algorithmBandwidthGBps(bytes, ns) * busFactor(op, ranks) : 0;
}

std::vector<CollectiveRow> collectiveTable(
    std::span<const SplitPart> parts, std::span<const CollectiveMatch> matches, Window window)
{
    const std::unordered_map<std::int64_t, InstanceSum> sums = sumByInstance(parts, window);
    std::map<std::pair<CollectiveOp, Dimension>, Group> groups;
    for (const auto& [instance, sum] : sums) {
        Group& group = groups[{ sum.op, sum.dimension }];
        group.row.op = sum.op;
        group.row.dimension = sum.dimension;
        ++group.row.count;
        group.row.bytes += sum.bytes;
        group.row.waitNs += sum.waitNs;
        group.row.transferNs += sum.transferNs;
        group.row.unsplitNs += sum.unsplitNs;
    }
    for (const CollectiveMatch& match : matches) {
        if (const auto sum = sums.find(raw(match.id)); sum != sums.end())
            addMatch(groups[{ sum->second.op, sum->second.dimension }], match, sum->second);
    }
    std::vector<CollectiveRow> rows;
    for (const auto& [key, group] : groups)
        rows.push_back(finished(group));
    std::stable_sort(rows.begin(), rows.end(),
        [](const CollectiveRow& a, const CollectiveRow& b) { return totalTimeNs(a) > totalTimeNs(b); });
    return rows;
}

} // namespace rankscope::tracing
