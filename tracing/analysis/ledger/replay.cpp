#include "tracing/analysis/ledger/replay.h"

#include "tracing/analysis/ledger/largest_remainder.h"
#include "tracing/model/interval.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

namespace rankscope::tracing::ledger {

namespace {

using Op = ReplayGraph::Op;
using Stretches = std::vector<StretchRatio>;

Ns scaled(Ns ns, const Ratio& ratio) { return mulDiv(ns, ratio.numerator, ratio.denominator); }

template <typename Map, typename Key> const typename Map::mapped_type* found(const Map& map, const Key& key)
{
    const auto it = map.find(key);
    return it == map.end() ? nullptr : &it->second;
}

Ns shortenedBy(const Stretches& stretches, Ns from, Ns to)
{
    Ns taken = 0;
    for (auto it = std::ranges::upper_bound(stretches, from, {}, &StretchRatio::end);
         it != stretches.end() && it->begin < to; ++it) {
        const Ns ns = std::min(it->end, to) - std::max(it->begin, from);
        taken += ns - scaled(ns, it->ratio);
    }
    return taken;
}

/// What is changed of one rank.
class RankChange {
public:
    RankChange(const ReplayGraph& graph, std::size_t rank, const ReplayChange& change)
        : change_(change)
        , rank_(graph.input().ranks[rank])
        , instances_(graph.input().instances)
        , segments_(graph.recorded().ranks[rank].segments)
        , computeTimes_(found(change.computeTimes, rank_.rank))
        , kernelTimes_(found(change.kernelTimes, rank_.rank))
        , chosen_(found(change.chosenKernels, rank_.rank))
        , transfer_(found(change.transferOfRank, rank_.rank))
        , dropsHostGaps_(change.hostGapsDropped.contains(rank_.rank))
    {
        for (const auto& [key, stretches] : change.gapTimes) {
            if (key.first == rank_.rank)
                gapTimes_[static_cast<std::size_t>(key.second)] = &stretches;
        }
        hasGapTimes_ = std::ranges::any_of(gapTimes_, [](const Stretches* times) { return times != nullptr; });
        dropsAnnotated_ = std::ranges::any_of(change.dropped, [&](const auto& key) { return key.first == rank_.rank; });
    }

    Ns computeLength(std::size_t index, Ns length) const
    {
        const ComputeOp& op = rank_.compute[index];
        if (change_.onCpu && op.cpu && op.threads > 0)
            length = std::min(length, *op.cpu / op.threads);
        if (change_.kernelsWithWork && op.work)
            length = *change_.kernelsWithWork;
        if (change_.recomputed && op.pass == Pass::Recompute)
            length = scaled(length, *change_.recomputed);
        if (chosen_ && index < chosen_->chosen.size() && chosen_->chosen[index])
            length = scaled(length, chosen_->ratio);
        if (kernelTimes_ && index < kernelTimes_->size())
            length = scaled(length, (*kernelTimes_)[index]);
        if (computeTimes_ && op.pass != Pass::Optimizer)
            length = scaled(length, *computeTimes_);
        return length;
    }

    Ns transferLength(std::size_t instance, Ns length) const
    {
        if (transfer_)
            length = scaled(length, *transfer_);
        if (const Ratio* ratio = found(change_.transferOfDimension, instances_[instance].dimension))
            length = scaled(length, *ratio);
        if (instance < change_.transferOfInstance.size())
            length = scaled(length, change_.transferOfInstance[instance]);
        return length;
    }

    /// The gap that stays between `from` and `to` when what the change drops is gone.
    Ns keptGap(Ns from, Ns to) const
    {
        Ns kept = to - from;
        if (kept > 0 && (dropsAnnotated_ || dropsHostGaps_))
            kept -= droppedBetween(from, to);
        if (kept > 0 && hasGapTimes_)
            kept -= shortenedBetween(from, to);
        return kept;
    }

private:
    Ns droppedBetween(Ns from, Ns to) const
    {
        std::vector<Window> dropped, annotated;
        for (const Annotation& a : rank_.annotations) {
            const Window inside{ std::max(a.begin, from), std::min(a.end, to) };
            if (inside.endNs <= inside.beginNs)
                continue;
            annotated.push_back(inside);
            if (change_.dropped.contains({ rank_.rank, a.kind }))
                dropped.push_back(inside);
        }
        const Ns outside = dropsHostGaps_ ? to - from - totalNs(unionOf(std::move(annotated))) : 0;
        return totalNs(unionOf(std::move(dropped))) + outside;
    }

    /// What gapTimes takes away from the labelled stretches between `from` and `to`.
    Ns shortenedBetween(Ns from, Ns to) const
    {
        Ns taken = 0;
        for (auto it = std::ranges::upper_bound(segments_, from, {}, &Segment::end);
             it != segments_.end() && it->begin < to; ++it) {
            if (const Stretches* times = gapTimes_[static_cast<std::size_t>(it->label)])
                taken += shortenedBy(*times, std::max(it->begin, from), std::min(it->end, to));
        }
        return taken;
    }

    const ReplayChange& change_;
    const RankInput& rank_;
    const std::vector<Instance>& instances_;
    const std::vector<Segment>& segments_;
    std::array<const Stretches*, kLabelCount> gapTimes_{}; ///< by label
    const Ratio* computeTimes_;
    const std::vector<Ratio>* kernelTimes_;
    const ChosenKernels* chosen_;
    const Ratio* transfer_;
    bool dropsHostGaps_;
    bool dropsAnnotated_ = false;
    bool hasGapTimes_ = false;
};

class Replay {
public:
    Replay(const ReplayGraph& graph, const ReplayChange& change)
        : graph_(graph)
        , joinEnds_(graph.joinCount())
    {
        out_.begin = std::numeric_limits<Ns>::max();
        for (std::size_t r = 0; r < graph.places().size(); ++r) {
            changes_.emplace_back(graph, r, change);
            out_.waits.emplace_back(graph.input().ranks[r].parts.size());
            out_.begin = std::min(out_.begin, graph.originOf(r));
        }
        out_.places = graph.places();
        out_.ops.resize(graph.opCount());
    }

    ReplayResult run()
    {
        for (const std::uint32_t node : graph_.order()) {
            if (node >= 2 * graph_.opCount())
                meet(node - static_cast<std::uint32_t>(2 * graph_.opCount()));
            else if (node % 2 == 0)
                begin(node / 2, true);
            else
                end(node / 2);
        }
        for (const std::uint32_t node : graph_.stuck()) {
            if (node < 2 * graph_.opCount() && node % 2 == 0)
                begin(node / 2, false);
        }
        out_.end = out_.begin;
        for (const ReplayedOp& op : out_.ops)
            out_.end = std::max(out_.end, op.end);
        return std::move(out_);
    }

private:
    /// Operations mostly come rank after rank.
    std::size_t rankOf(Op op)
    {
        const ReplayGraph::Place& last = out_.places[rank_];
        if (op < last.compute || op >= last.end)
            rank_ = graph_.rankOf(op);
        return rank_;
    }

    void meet(std::uint32_t join)
    {
        Ns last = std::numeric_limits<Ns>::min();
        for (const Op op : graph_.join(join))
            last = std::max(last, out_.ops[op].end);
        joinEnds_[join] = last;
    }

    void begin(Op op, bool waits)
    {
        const std::size_t r = rankOf(op);
        const ReplayGraph::Source source = graph_.sourceOf(op);
        const Ns origin = graph_.originOf(r), recorded = graph_.times(op).begin;
        Ns recordedFrom = origin, from = origin;
        if (!source.isNothing()) {
            const Op last = source.isJoin() ? graph_.join(source.index()).front() : source.index();
            recordedFrom = graph_.times(last).end;
            if (waits)
                from = source.isJoin() ? joinEnds_[source.index()] : out_.ops[last].end;
        }
        out_.ops[op].begin = from + changes_[r].keptGap(std::min(recordedFrom, recorded), recorded);
    }

    void end(Op op)
    {
        const std::size_t r = rankOf(op);
        const ReplayGraph::Place& place = out_.places[r];
        ReplayedOp& own = out_.ops[op];
        if (op >= place.parts)
            return leave(r, op, own);
        const ReplayGraph::Times& recorded = graph_.times(op);
        const Ns length = recorded.end - recorded.begin;
        own.end = own.begin + (op < place.copies ? changes_[r].computeLength(op - place.compute, length) : length);
    }

    void leave(std::size_t r, Op op, ReplayedOp& own)
    {
        const std::size_t p = op - out_.places[r].parts;
        const SplitPart& part = graph_.recorded().ranks[r].parts[p];
        const std::size_t instance = graph_.input().ranks[r].parts[p].instance;
        Ns length = 0;
        if (const ReplayGraph::Message* message = graph_.messageOf(op)) {
            length = message->own;
            own.end = std::max(own.begin + length,
                out_.ops[message->sender].begin + changes_[r].transferLength(instance, message->flight));
        } else {
            length = changes_[r].transferLength(instance, part.exit - part.entry - part.wait);
            Ns latest = own.begin;
            for (const Op other : graph_.awaited(r, op))
                latest = std::max(latest, out_.ops[other].begin);
            own.end = latest + length;
        }
        out_.waits[r][p] = own.end - own.begin - length;
    }

    const ReplayGraph& graph_;
    std::vector<RankChange> changes_; ///< by rank
    std::vector<Ns> joinEnds_;
    std::size_t rank_ = 0; ///< of the operation before
    ReplayResult out_;
};

} // namespace

ReplayResult replay(const ReplayGraph& graph, const ReplayChange& change) { return Replay(graph, change).run(); }

} // namespace rankscope::tracing::ledger
