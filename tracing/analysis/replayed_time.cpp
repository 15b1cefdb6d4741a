#include "tracing/analysis/replayed_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rankscope::tracing {

using ledger::Ns;

ReplayedTime::ReplayedTime(const ledger::ReplayGraph& graph, const std::vector<Window>& stretches)
    : graph_(graph)
{
    for (const Window& stretch : stretches)
        stretches_.push_back({ placesAt(stretch.beginNs), placesAt(stretch.endNs) });
}

std::vector<ReplayedTime::Place> ReplayedTime::placesAt(Ns instant) const
{
    std::vector<Place> places;
    for (std::size_t r = 0; r < graph_.places().size(); ++r) {
        const ledger::RankInput& rank = graph_.input().ranks[r];
        Place place;
        place.instant = instant;
        place.endedAt = std::min(rank.stretches.empty() ? 0 : rank.stretches.front().begin, instant);
        look(rank.compute, graph_.places()[r].compute, place);
        look(rank.parts, graph_.places()[r].parts, place);
        look(rank.copies, graph_.places()[r].copies, place);
        places.push_back(std::move(place));
    }
    return places;
}

template <typename Rows> void ReplayedTime::look(const Rows& rows, ledger::ReplayGraph::Op first, Place& place)
{
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto op = first + static_cast<ledger::ReplayGraph::Op>(i);
        if (rows[i].end <= place.instant) {
            if (rows[i].end < place.endedAt)
                continue;
            if (rows[i].end > place.endedAt) {
                place.ended.clear();
                place.isOrigin = false;
            }
            place.endedAt = rows[i].end;
            place.ended.push_back(op);
        } else if (rows[i].begin < place.instant) {
            place.underWay.push_back({ op,
                static_cast<double>(place.instant - rows[i].begin)
                    / static_cast<double>(rows[i].end - rows[i].begin) });
        }
    }
}

Ns ReplayedTime::reached(std::size_t rank, const Place& place, const ledger::ReplayChange& change,
    const ledger::ReplayResult& replayed) const
{
    Ns latest = std::numeric_limits<Ns>::min();
    for (const UnderWay& own : place.underWay) {
        const auto& [begin, end] = replayed.ops[own.op];
        latest = std::max<Ns>(latest, begin + std::llround(own.done * static_cast<double>(end - begin)));
    }
    if (!place.underWay.empty())
        return latest;
    if (place.isOrigin)
        latest = place.endedAt;
    for (const ledger::ReplayGraph::Op op : place.ended)
        latest = std::max(latest, replayed.ops[op].end);
    return latest + place.instant - place.endedAt - takenAway(rank, place.endedAt, place.instant, change);
}

/// What the change takes away from the rank's gaps in this stretch.
Ns ReplayedTime::takenAway(std::size_t r, Ns from, Ns to, const ledger::ReplayChange& change) const
{
    Ns taken = 0;
    if (change.gapTimes.empty())
        return taken;
    const auto& segments = graph_.recorded().ranks[r].segments;
    for (auto segment = std::ranges::upper_bound(segments, from, {}, &ledger::Segment::end);
         segment != segments.end() && segment->begin < to; ++segment) {
        const auto times = change.gapTimes.find({ graph_.input().ranks[r].rank, segment->label });
        if (times == change.gapTimes.end())
            continue;
        for (const ledger::StretchRatio& stretch : times->second) {
            const Ns begin = std::max({ from, segment->begin, stretch.begin });
            const Ns end = std::min({ to, segment->end, stretch.end });
            if (begin < end)
                taken += end - begin
                    - std::llround(static_cast<double>(end - begin) * static_cast<double>(stretch.ratio.numerator)
                        / static_cast<double>(stretch.ratio.denominator));
        }
    }
    return taken;
}

std::int64_t ReplayedTime::of(const ledger::ReplayChange& change, const ledger::ReplayResult& replayed) const
{
    if (stretches_.empty() || graph_.places().empty())
        return replayed.end - replayed.begin;
    const auto times = [&](const std::vector<Place>& places) {
        std::vector<Ns> all;
        for (std::size_t r = 0; r < places.size(); ++r)
            all.push_back(reached(r, places[r], change, replayed));
        return all;
    };
    std::int64_t sum = 0;
    for (const Stretch& stretch : stretches_) {
        const bool isLast = &stretch == &stretches_.back();
        const std::vector<Ns> ends = times(stretch.end);
        const Ns end = isLast ? std::ranges::max(ends) : std::ranges::min(ends);
        sum += std::max<Ns>(0, end - std::ranges::min(times(stretch.begin)));
    }
    return sum;
}

} // namespace rankscope::tracing
