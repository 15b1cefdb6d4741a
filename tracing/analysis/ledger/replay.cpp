#include "tracing/analysis/ledger/replay.h"

#include "tracing/analysis/ledger/collective_split.h"
#include "tracing/analysis/ledger/largest_remainder.h"
#include "tracing/model/interval.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

namespace rankscope::tracing::ledger {

namespace {

enum class OpKind : std::uint8_t { Compute, Part, Copy };

/// One operation; its begin is node 2 * index, its end node 2 * index + 1.
struct Op {
    std::size_t rank = 0;
    OpKind kind = OpKind::Compute;
    std::size_t index = 0;
    Ns begin = 0;
    Ns end = 0;
    Ns gap = 0; ///< kept between the predecessors' end, or the origin, and begin
    Ns own = 0; ///< length beyond the latest entry (parts) or begin (others)
    bool waitsForOthers = false;
    std::optional<std::size_t> sender{}; ///< of a message that was sent ahead: it is there `flight` after that began
    Ns flight = 0;
    Ns newBegin = 0;
    Ns newEnd = 0;
};

class Replay {
public:
    Replay(const LedgerInput& input, const LedgerResult& recorded, const ReplayChange& change)
        : input_(input)
        , recorded_(recorded)
        , change_(change)
        , index_(input)
    {
    }

    ReplayResult run()
    {
        collectOps();
        for (std::size_t r = 0; r < input_.ranks.size(); ++r)
            linkLocal(r);
        linkParts();
        linkMessagesSentAhead();
        evaluate();
        return results();
    }

private:
    static std::size_t beginOf(std::size_t op) { return 2 * op; }
    static std::size_t endOf(std::size_t op) { return 2 * op + 1; }

    void edge(std::size_t from, std::size_t to)
    {
        followers_[from].push_back(to);
        ++pending_[to];
    }

    static Ns scaled(Ns ns, const Ratio& ratio) { return mulDiv(ns, ratio.numerator, ratio.denominator); }

    Ns computeLength(const RankInput& rank, std::size_t index, Ns length) const
    {
        const ComputeOp& op = rank.compute[index];
        if (change_.onCpu && op.cpu && op.threads > 0)
            length = std::min(length, *op.cpu / op.threads);
        if (change_.kernelsWithWork && op.work)
            length = *change_.kernelsWithWork;
        if (change_.recomputed && op.pass == Pass::Recompute)
            length = scaled(length, *change_.recomputed);
        const auto some = change_.chosenKernels.find(rank.rank);
        if (some != change_.chosenKernels.end() && index < some->second.chosen.size() && some->second.chosen[index])
            length = scaled(length, some->second.ratio);
        const auto ratio = change_.computeTimes.find(rank.rank);
        if (ratio != change_.computeTimes.end() && op.pass != Pass::Optimizer)
            length = scaled(length, ratio->second);
        return length;
    }

    Ns transferLength(const RankInput& rank, const PartOp& part, Ns length) const
    {
        if (const auto ratio = change_.transferOfRank.find(rank.rank); ratio != change_.transferOfRank.end())
            length = scaled(length, ratio->second);
        const Dimension dimension = input_.instances[part.instance].dimension;
        if (const auto ratio = change_.transferOfDimension.find(dimension); ratio != change_.transferOfDimension.end())
            length = scaled(length, ratio->second);
        return length;
    }

    void collectOps()
    {
        opOfPart_.resize(input_.ranks.size());
        for (std::size_t r = 0; r < input_.ranks.size(); ++r) {
            const RankInput& rank = input_.ranks[r];
            const Ns last = rank.stretches.empty() ? 0 : rank.stretches.back().end;
            for (std::size_t i = 0; i < rank.compute.size(); ++i) {
                const ComputeOp& op = rank.compute[i];
                const Ns end = std::max(op.begin, std::min(op.end, last));
                ops_.push_back({ r, OpKind::Compute, i, op.begin, end, 0, computeLength(rank, i, end - op.begin) });
            }
            for (std::size_t i = 0; i < rank.copies.size(); ++i) {
                const CopyOp& op = rank.copies[i];
                const Ns end = std::max(op.begin, op.end);
                ops_.push_back({ r, OpKind::Copy, i, op.begin, end, 0, end - op.begin });
            }
            for (std::size_t i = 0; i < rank.parts.size(); ++i) {
                const SplitPart& part = recorded_.ranks[r].parts[i];
                const Ns transfer = part.exit - part.entry - part.wait;
                Op op{ r, OpKind::Part, i, part.entry, part.exit, 0, transferLength(rank, rank.parts[i], transfer) };
                op.waitsForOthers = !part.eager && !part.unsplit && part.late >= 0;
                opOfPart_[r].push_back(ops_.size());
                ops_.push_back(op);
            }
        }
        followers_.resize(2 * ops_.size());
        pending_.resize(2 * ops_.size(), 0);
        for (std::size_t op = 0; op < ops_.size(); ++op)
            edge(beginOf(op), endOf(op));
    }

    Ns originOf(std::size_t r) const
    {
        return input_.ranks[r].stretches.empty() ? 0 : input_.ranks[r].stretches.front().begin;
    }

    /// The gap that stays between `from` and `to` when what the change drops is gone.
    Ns keptGap(std::size_t r, Ns from, Ns to) const
    {
        const RankInput& rank = input_.ranks[r];
        std::vector<Window> dropped, annotated;
        for (const Annotation& a : rank.annotations) {
            const Window inside{ std::max(a.begin, from), std::min(a.end, to) };
            if (inside.endNs <= inside.beginNs)
                continue;
            annotated.push_back(inside);
            if (change_.dropped.contains({ rank.rank, a.kind }))
                dropped.push_back(inside);
        }
        Ns kept = to - from - totalNs(unionOf(dropped));
        if (change_.hostGapsDropped.contains(rank.rank))
            kept -= to - from - totalNs(unionOf(annotated));
        return kept - shortenedBy(r, from, to);
    }

    /// What gapTimes takes away from the labelled stretches between `from` and `to`.
    Ns shortenedBy(std::size_t r, Ns from, Ns to) const
    {
        if (change_.gapTimes.empty())
            return 0;
        const auto& segments = recorded_.ranks[r].segments;
        Ns taken = 0;
        for (auto it = std::ranges::upper_bound(segments, from, {}, &Segment::end);
             it != segments.end() && it->begin < to; ++it) {
            const auto change = change_.gapTimes.find({ input_.ranks[r].rank, it->label });
            if (change != change_.gapTimes.end())
                taken += shortenedBy(change->second, std::max(it->begin, from), std::min(it->end, to));
        }
        return taken;
    }

    static Ns shortenedBy(const std::vector<StretchRatio>& stretches, Ns from, Ns to)
    {
        Ns taken = 0;
        for (auto it = std::ranges::upper_bound(stretches, from, {}, &StretchRatio::end);
             it != stretches.end() && it->begin < to; ++it) {
            const Ns ns = std::min(it->end, to) - std::max(it->begin, from);
            taken += ns - scaled(ns, it->ratio);
        }
        return taken;
    }

    void linkLocal(std::size_t r)
    {
        std::vector<std::size_t> byBegin, byEnd;
        for (std::size_t op = 0; op < ops_.size(); ++op) {
            if (ops_[op].rank == r)
                byBegin.push_back(op);
        }
        byEnd = byBegin;
        std::ranges::sort(byBegin, {}, [&](std::size_t op) { return std::pair(ops_[op].begin, op); });
        std::ranges::sort(byEnd, {}, [&](std::size_t op) { return std::pair(ops_[op].end, op); });
        std::size_t ended = 0;
        for (const std::size_t op : byBegin) {
            while (ended < byEnd.size() && ops_[byEnd[ended]].end <= ops_[op].begin)
                ++ended;
            linkToLastEnded(r, op, std::span(byEnd).first(ended));
        }
    }

    void linkToLastEnded(std::size_t r, std::size_t op, std::span<const std::size_t> ended)
    {
        // An operation of no length ends where it begins: it cannot wait for itself.
        const auto isOther = [&](std::size_t other) { return other != op; };
        Ns last = originOf(r);
        bool found = false;
        for (auto it = ended.rbegin(); it != ended.rend(); ++it) {
            if (!isOther(*it))
                continue;
            if (found && ops_[*it].end < last)
                break;
            if (!found && ops_[*it].end < last)
                break; // before the stretch
            last = ops_[*it].end;
            found = true;
            // Two operations of no length at one instant would wait for each other.
            if (ops_[*it].begin < ops_[op].begin || *it < op)
                edge(endOf(*it), beginOf(op));
        }
        ops_[op].gap = keptGap(r, std::min(last, ops_[op].begin), ops_[op].begin);
        ops_[op].newBegin = originOf(r) + ops_[op].gap; // raised when predecessors end
    }

    void linkParts()
    {
        for (std::size_t r = 0; r < input_.ranks.size(); ++r) {
            for (std::size_t p = 0; p < input_.ranks[r].parts.size(); ++p) {
                const std::size_t op = opOfPart_[r][p];
                if (ops_[op].waitsForOthers)
                    linkMembers(r, p, op);
            }
        }
    }

    void linkMembers(std::size_t r, std::size_t p, std::size_t op)
    {
        const RankInput& rank = input_.ranks[r];
        const auto link = [&](std::size_t instance) {
            for (const auto& other : index_.parts(instance)) {
                const auto q = static_cast<std::size_t>(other.rank);
                // After an order violation the clock is wrong, not the program: keep what was recorded.
                if (q != r && index_.dependsOn(instance, rank.rank, input_.ranks[q].rank)
                    && other.entry <= ops_[op].end)
                    edge(beginOf(opOfPart_[q][other.part]), endOf(op));
            }
        };
        if (!rank.parts[p].launchGroup)
            return link(rank.parts[p].instance);
        for (const PartOp& other : rank.parts) {
            if (other.launchGroup == rank.parts[p].launchGroup)
                link(other.instance);
        }
    }

    /// Where senders do not wait for their receivers, a message's way begins with its sending. What is recorded of a
    /// receiver that came later is the rest of the way only: once it comes earlier, the whole way counts.
    void linkMessagesSentAhead()
    {
        std::map<std::size_t, std::size_t> senders; // operation by instance
        bool ahead = false;
        const auto visit = [&](auto visitor) {
            for (std::size_t r = 0; r < input_.ranks.size(); ++r) {
                for (std::size_t p = 0; p < input_.ranks[r].parts.size(); ++p) {
                    const PartOp& part = input_.ranks[r].parts[p];
                    const Instance& instance = input_.instances[part.instance];
                    if (instance.source && instance.destination && !part.launchGroup)
                        visitor(r, p, *instance.source == input_.ranks[r].rank);
                }
            }
        };
        visit([&](std::size_t r, std::size_t p, bool sends) {
            ahead = ahead || recorded_.ranks[r].parts[p].eager;
            if (sends)
                senders[input_.ranks[r].parts[p].instance] = opOfPart_[r][p];
        });
        if (!ahead)
            return;
        visit([&](std::size_t r, std::size_t p, bool sends) {
            const auto sender = senders.find(input_.ranks[r].parts[p].instance);
            Op& op = ops_[opOfPart_[r][p]];
            // After an order violation there is no edge from the sender.
            if (sends || sender == senders.end() || !op.waitsForOthers || ops_[sender->second].begin > op.end)
                return;
            const Op& send = ops_[sender->second];
            const bool wasThere = send.end <= op.begin;
            op.sender = sender->second;
            op.flight = transferLength(
                input_.ranks[r], input_.ranks[r].parts[p], (wasThere ? send.end : op.end) - send.begin);
            op.own = wasThere ? op.end - op.begin : 0;
        });
    }

    void evaluate()
    {
        std::vector<std::size_t> ready;
        for (std::size_t node = 0; node < pending_.size(); ++node) {
            if (pending_[node] == 0)
                ready.push_back(node);
        }
        std::vector<Ns> reached(pending_.size(), std::numeric_limits<Ns>::min());
        while (!ready.empty()) {
            const std::size_t node = ready.back();
            ready.pop_back();
            Op& op = ops_[node / 2];
            const bool isBegin = node % 2 == 0;
            if (isBegin && reached[node] != std::numeric_limits<Ns>::min())
                op.newBegin = reached[node] + op.gap;
            if (!isBegin)
                op.newEnd = op.sender ? std::max(op.newBegin + op.own, ops_[*op.sender].newBegin + op.flight)
                                      : std::max(op.newBegin, reached[node]) + op.own;
            const Ns at = isBegin ? op.newBegin : op.newEnd;
            for (const std::size_t follower : followers_[node]) {
                reached[follower] = std::max(reached[follower], at);
                if (--pending_[follower] == 0)
                    ready.push_back(follower);
            }
        }
    }

    ReplayResult results() const
    {
        ReplayResult out;
        const std::size_t ranks = input_.ranks.size();
        out.compute.resize(ranks);
        out.parts.resize(ranks);
        out.copies.resize(ranks);
        out.waits.resize(ranks);
        out.begin = std::numeric_limits<Ns>::max();
        for (std::size_t r = 0; r < ranks; ++r) {
            out.compute[r].resize(input_.ranks[r].compute.size());
            out.parts[r].resize(input_.ranks[r].parts.size());
            out.copies[r].resize(input_.ranks[r].copies.size());
            out.waits[r].resize(input_.ranks[r].parts.size());
            out.begin = std::min(out.begin, originOf(r));
        }
        out.end = out.begin;
        for (const Op& op : ops_) {
            auto& lane = op.kind == OpKind::Compute ? out.compute : op.kind == OpKind::Part ? out.parts : out.copies;
            lane[op.rank][op.index] = { op.newBegin, op.newEnd };
            if (op.kind == OpKind::Part)
                out.waits[op.rank][op.index] = op.newEnd - op.newBegin - op.own;
            out.end = std::max(out.end, op.newEnd);
        }
        return out;
    }

    const LedgerInput& input_;
    const LedgerResult& recorded_;
    const ReplayChange& change_;
    InstanceIndex index_;
    std::vector<Op> ops_;
    std::vector<std::vector<std::size_t>> opOfPart_; ///< by rank and part
    std::vector<std::vector<std::size_t>> followers_; ///< by node
    std::vector<std::int32_t> pending_;
};

} // namespace

ReplayResult replay(const LedgerInput& input, const LedgerResult& recorded, const ReplayChange& change)
{
    return Replay(input, recorded, change).run();
}

} // namespace rankscope::tracing::ledger
