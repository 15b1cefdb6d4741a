#include "tracing/analysis/run_rows.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace rankscope::tracing {

namespace {

/// The entry a part has to wait for, and whose it is.
struct Entry {
    std::int64_t timeNs = 0;
    std::int32_t rank = 0;
    bool known = true;
};

/// Later entry wins; ties go to the lowest rank.
void keepLater(Entry& latest, std::int64_t timeNs, std::int32_t rank)
{
    if (timeNs > latest.timeNs || (timeNs == latest.timeNs && rank < latest.rank))
        latest = { timeNs, rank };
}

/// The parts of one instance among the given ones, and what the file's match knows beyond them.
struct Group {
    std::span<const std::size_t> members; ///< indices into the parts
    const CollectiveMatch* match = nullptr;

    bool canBeSplit() const
    {
        const auto present = static_cast<std::int32_t>(members.size());
        const std::int32_t known = match ? std::max(present, match->partsPresent) : present;
        return known >= 2 || (match && match->partsExpected == 1);
    }

    Entry latestOf(const std::vector<RankPart>& parts) const
    {
        Entry latest{ parts[members.front()].part.beginNs, parts[members.front()].rank };
        for (const std::size_t member : members)
            keepLater(latest, parts[member].part.beginNs, parts[member].rank);
        if (match && match->lateRank)
            keepLater(latest, match->lastEntryNs, *match->lateRank);
        return latest;
    }

    Entry rootOf(const std::vector<RankPart>& parts, std::int32_t root) const
    {
        for (const std::size_t member : members) {
            if (parts[member].rank == root)
                return { parts[member].part.beginNs, root };
        }
        return { 0, root, false };
    }
};

/// E of METRICS 5.3 for one part: the latest entry among the part's own and those of the members it depends on.
Entry awaitedEntry(const std::vector<RankPart>& parts, const Group& group, const RankPart& own)
{
    Entry latest{ own.part.beginNs, own.rank };
    const std::optional<std::int32_t> root = own.part.peer;
    switch (own.part.op) {
    case CollectiveOp::Broadcast:
    case CollectiveOp::Scatter:
        if (root) {
            const Entry rootEntry = group.rootOf(parts, *root);
            if (!rootEntry.known)
                return rootEntry;
            keepLater(latest, rootEntry.timeNs, rootEntry.rank);
            return latest;
        }
        break;
    case CollectiveOp::Reduce:
    case CollectiveOp::Gather:
        if (root && *root != own.rank)
            return latest;
        break;
    default:
        break;
    }
    return group.latestOf(parts);
}

std::vector<std::size_t> orderByInstance(const std::vector<RankPart>& parts)
{
    std::vector<std::size_t> order(parts.size());
    std::iota(order.begin(), order.end(), std::size_t{ 0 });
    std::stable_sort(order.begin(), order.end(),
        [&](std::size_t a, std::size_t b) { return parts[a].part.instance < parts[b].part.instance; });
    return order;
}

/// Parts of one rank that were started as one group launch wait together: they share the latest entry.
void shareEntriesOfGroupLaunches(const std::vector<RankPart>& parts, std::vector<Entry>& entries)
{
    std::map<std::pair<std::int32_t, std::int64_t>, Entry> latest;
    const auto key = [](const RankPart& part) { return std::pair(part.rank, *part.part.launchGroup); };
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!parts[i].part.launchGroup || !entries[i].known)
            continue;
        const auto [found, isNew] = latest.try_emplace(key(parts[i]), entries[i]);
        if (!isNew)
            keepLater(found->second, entries[i].timeNs, entries[i].rank);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].part.launchGroup && entries[i].known)
            entries[i] = latest.at(key(parts[i]));
    }
}

SplitPart split(const RankPart& own, const Entry& awaited)
{
    const CollectivePart& part = own.part;
    SplitPart result{
        .rank = own.rank,
        .beginNs = part.beginNs,
        .endNs = part.endNs,
        .splitNs = part.beginNs,
        .isSplit = awaited.known,
        .op = part.op,
        .dimension = own.dimension,
        .instance = part.instance,
        .bytes = part.bytes,
        .lateRank = std::nullopt,
    };
    const bool eagerSend = part.op == CollectiveOp::Send && part.endNs < awaited.timeNs;
    if (awaited.known && !eagerSend)
        result.splitNs = std::clamp(awaited.timeNs, part.beginNs, std::max(part.beginNs, part.endNs));
    if (result.splitNs > part.beginNs)
        result.lateRank = awaited.rank;
    return result;
}

} // namespace

std::vector<SplitPart> splitParts(const std::vector<RankPart>& parts, const std::vector<CollectiveMatch>& matches)
{
    std::unordered_map<std::int64_t, const CollectiveMatch*> matchOf;
    matchOf.reserve(matches.size());
    for (const CollectiveMatch& match : matches)
        matchOf.emplace(raw(match.id), &match);

    const std::vector<std::size_t> order = orderByInstance(parts);
    std::vector<Entry> entries(parts.size());
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        const InstanceId instance = parts[order[begin]].part.instance;
        while (end < order.size() && parts[order[end]].part.instance == instance)
            ++end;
        const auto match = matchOf.find(raw(instance));
        const Group group{ std::span(order).subspan(begin, end - begin),
            match == matchOf.end() ? nullptr : match->second };
        for (const std::size_t member : group.members) {
            entries[member] = group.canBeSplit() ? awaitedEntry(parts, group, parts[member])
                                                 : Entry{ 0, parts[member].rank, false };
        }
        begin = end;
    }
    shareEntriesOfGroupLaunches(parts, entries);

    std::vector<SplitPart> result;
    result.reserve(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i)
        result.push_back(split(parts[i], entries[i]));
    return result;
}

} // namespace rankscope::tracing
