#include "tracing/analysis/ledger/replay_graph.h"

#include "tracing/analysis/ledger/collective_split.h"
#include "tracing/model/check.h"
#include "tracing/model/sort_runs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace rankscope::tracing::ledger {

namespace {

/// How far the search for an order has come with a node.
enum class NodeState : std::uint8_t { New, OnPath, Done, Stuck };

bool waitsForOthers(const SplitPart& part) { return !part.eager && !part.unsplit && part.late >= 0; }

bool isMessage(const LedgerInput& input, const PartOp& part)
{
    const Instance& instance = input.instances[part.instance];
    return instance.source && instance.destination && !part.launchGroup;
}

} // namespace

ReplayGraph::ReplayGraph(const LedgerInput& input, const LedgerResult& recorded)
    : input_(input)
    , recorded_(recorded)
{
    std::size_t next = 0, parts = 0;
    for (const RankInput& rank : input.ranks) {
        const std::size_t copies = next + rank.compute.size(), first = copies + rank.copies.size();
        const std::size_t end = first + rank.parts.size();
        RS_CHECK(end <= kMostOps, "a replayed run has at most half a billion operations");
        places_.push_back(
            { static_cast<Op>(next), static_cast<Op>(copies), static_cast<Op>(first), static_cast<Op>(end) });
        firstPart_.push_back(parts);
        parts += rank.parts.size();
        next = end;
    }
    times_.reserve(next);
    sources_.resize(next);
    for (std::size_t r = 0; r < input.ranks.size(); ++r)
        linkRank(r);
    linkParts(InstanceIndex(input));
    linkMessages();
    sortNodes();
}

std::size_t ReplayGraph::rankOf(Op op) const
{
    return static_cast<std::size_t>(std::ranges::upper_bound(places_, op, {}, &Place::end) - places_.begin());
}

ReplayGraph::Times ReplayGraph::recordedTimes(std::size_t r, Op op) const
{
    const RankInput& rank = input_.ranks[r];
    const Place& place = places_[r];
    if (op < place.copies) {
        const ComputeOp& compute = rank.compute[op - place.compute];
        const Ns last = rank.stretches.empty() ? 0 : rank.stretches.back().end;
        return { compute.begin, std::max(compute.begin, std::min(compute.end, last)) };
    }
    if (op < place.parts) {
        const CopyOp& copy = rank.copies[op - place.copies];
        return { copy.begin, std::max(copy.begin, copy.end) };
    }
    const SplitPart& part = recorded_.ranks[r].parts[op - place.parts];
    return { part.entry, part.exit };
}

Ns ReplayGraph::originOf(std::size_t r) const
{
    return input_.ranks[r].stretches.empty() ? 0 : input_.ranks[r].stretches.front().begin;
}

void ReplayGraph::linkRank(std::size_t r)
{
    const Place& place = places_[r];
    std::vector<Op> byBegin(place.end - place.compute), byEnd;
    std::iota(byBegin.begin(), byBegin.end(), place.compute);
    for (const Op op : byBegin) {
        times_.push_back(recordedTimes(r, op));
        if (times_[op].begin < times_[op].end)
            byEnd.push_back(op);
    }
    sortRuns(byBegin, [&](Op a, Op b) { return times_[a].begin < times_[b].begin; });
    sortRuns(byEnd, [&](Op a, Op b) { return times_[a].end < times_[b].end; });

    // Whoever begins now waits for `latest`. Operations of no length at one instant wait for each other in their order,
    // so that none waits for itself; the last of them stands for all that ended there.
    Source latest;
    const Ns origin = originOf(r);
    auto ended = byEnd.begin();
    for (const Op op : byBegin) {
        const Times own = times_[op];
        while (ended != byEnd.end() && times_[*ended].end <= own.begin) {
            const auto first = ended;
            const Ns at = times_[*first].end;
            while (ended != byEnd.end() && times_[*ended].end == at)
                ++ended;
            if (at < origin)
                continue;
            latest.code = *first;
            if (ended - first > 1) {
                latest.code = Source::kJoin | static_cast<std::uint32_t>(joinCount());
                joined_.insert(joined_.end(), first, ended);
                joins_.push_back(joined_.size());
            }
        }
        sources_[op] = latest;
        if (own.begin == own.end && own.end >= origin)
            latest.code = op;
    }
}

void ReplayGraph::linkParts(const InstanceIndex& index)
{
    for (std::size_t r = 0; r < input_.ranks.size(); ++r) {
        const RankInput& rank = input_.ranks[r];
        std::map<std::int64_t, std::vector<std::size_t>> instancesOfGroup;
        for (const PartOp& part : rank.parts) {
            if (part.launchGroup)
                instancesOfGroup[*part.launchGroup].push_back(part.instance);
        }
        for (std::size_t p = 0; p < rank.parts.size(); ++p) {
            const SplitPart& own = recorded_.ranks[r].parts[p];
            const auto link = [&](std::size_t instance) {
                for (const auto& other : index.parts(instance)) {
                    const auto q = static_cast<std::size_t>(other.rank);
                    // After an order violation the clock is wrong, not the program: keep what was recorded.
                    if (q != r && index.dependsOn(instance, rank.rank, input_.ranks[q].rank) && other.entry <= own.exit)
                        awaited_.push_back(places_[q].parts + static_cast<Op>(other.part));
                }
            };
            if (waitsForOthers(own) && !rank.parts[p].launchGroup)
                link(rank.parts[p].instance);
            else if (waitsForOthers(own))
                std::ranges::for_each(instancesOfGroup[*rank.parts[p].launchGroup], link);
            awaitedFrom_.push_back(awaited_.size());
        }
    }
}

/// Where senders do not wait for their receivers, a message's way begins with its sending. What is recorded of a
/// receiver that came later is the rest of the way only: once it comes earlier, the whole way counts.
void ReplayGraph::linkMessages()
{
    std::unordered_map<std::size_t, std::pair<Op, Times>> senders; // by instance
    bool ahead = false;
    const auto visit = [&](auto visitor) {
        for (std::size_t r = 0; r < input_.ranks.size(); ++r) {
            for (std::size_t p = 0; p < input_.ranks[r].parts.size(); ++p) {
                const PartOp& part = input_.ranks[r].parts[p];
                const Op op = places_[r].parts + static_cast<Op>(p);
                if (isMessage(input_, part))
                    visitor(r, op, part.instance, recorded_.ranks[r].parts[p]);
            }
        }
    };
    visit([&](std::size_t r, Op op, std::size_t instance, const SplitPart& split) {
        ahead = ahead || split.eager;
        if (*input_.instances[instance].source == input_.ranks[r].rank)
            senders[instance] = { op, times_[op] };
    });
    if (!ahead)
        return;
    visit([&](std::size_t r, Op op, std::size_t instance, const SplitPart& split) {
        const auto sender = senders.find(instance);
        // After an order violation there is no edge from the sender.
        if (*input_.instances[instance].source == input_.ranks[r].rank || sender == senders.end()
            || !waitsForOthers(split) || sender->second.second.begin > split.exit)
            return;
        const Times& send = sender->second.second;
        const bool wasThere = send.end <= split.entry;
        messages_[op] = { sender->second.first, (wasThere ? send.end : split.exit) - send.begin,
            wasThere ? split.exit - split.entry : 0 };
    });
}

std::span<const ReplayGraph::Op> ReplayGraph::awaited(std::size_t rank, Op part) const
{
    const std::size_t number = firstPart_[rank] + (part - places_[rank].parts);
    return std::span(awaited_).subspan(awaitedFrom_[number], awaitedFrom_[number + 1] - awaitedFrom_[number]);
}

const ReplayGraph::Message* ReplayGraph::messageOf(Op part) const
{
    const auto found = messages_.find(part);
    return found == messages_.end() ? nullptr : &found->second;
}

std::optional<std::uint32_t> ReplayGraph::dependency(std::uint32_t node, std::size_t which) const
{
    const auto joinNode = [&](std::uint32_t join) { return static_cast<std::uint32_t>(2 * opCount()) + join; };
    if (node >= 2 * opCount()) {
        const auto members = join(node - joinNode(0));
        return which < members.size() ? std::optional(2 * members[which] + 1) : std::nullopt;
    }
    const Op op = node / 2;
    if (node % 2 == 0) {
        const Source source = sources_[op];
        if (which > 0 || source.isNothing())
            return std::nullopt;
        return source.isJoin() ? joinNode(source.index()) : 2 * source.index() + 1;
    }
    if (which == 0)
        return 2 * op;
    const std::size_t rank = rankOf(op);
    if (op < places_[rank].parts)
        return std::nullopt;
    const auto others = awaited(rank, op);
    return which <= others.size() ? std::optional(2 * others[which - 1]) : std::nullopt;
}

void ReplayGraph::sortNodes()
{
    struct Visit {
        std::uint32_t node = 0;
        std::size_t next = 0;
    };
    std::vector<NodeState> states(2 * opCount() + joinCount(), NodeState::New);
    std::vector<Visit> path; // each waits for the next one
    order_.reserve(states.size());
    for (std::uint32_t end = 1; end < 2 * opCount(); end += 2) {
        if (states[end] == NodeState::New)
            path.push_back({ end, 0 });
        while (!path.empty()) {
            Visit& visit = path.back();
            states[visit.node] = NodeState::OnPath;
            const auto next = dependency(visit.node, visit.next++);
            if (!next) {
                states[visit.node] = NodeState::Done;
                order_.push_back(visit.node);
                path.pop_back();
            } else if (states[*next] == NodeState::New) {
                path.push_back({ *next, 0 });
            } else if (states[*next] != NodeState::Done) {
                for (const Visit& waiting : path) {
                    states[waiting.node] = NodeState::Stuck;
                    stuck_.push_back(waiting.node);
                }
                path.clear();
            }
        }
    }
}

} // namespace rankscope::tracing::ledger
