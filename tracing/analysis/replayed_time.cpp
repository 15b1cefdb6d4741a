#include "tracing/analysis/replayed_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace rankscope::tracing {

namespace {

using ledger::Ns;

class Clock {
public:
    Clock(const ledger::ReplayGraph& graph, const ledger::ReplayChange& change, const ledger::ReplayResult& replayed)
        : input_(graph.input())
        , recorded_(graph.recorded())
        , change_(change)
        , replayed_(replayed)
    {
    }

    Ns firstAt(Ns instant) const
    {
        Ns first = std::numeric_limits<Ns>::max();
        for (std::size_t r = 0; r < input_.ranks.size(); ++r)
            first = std::min(first, at(r, instant));
        return first;
    }

    Ns lastAt(Ns instant) const
    {
        Ns last = std::numeric_limits<Ns>::min();
        for (std::size_t r = 0; r < input_.ranks.size(); ++r)
            last = std::max(last, at(r, instant));
        return last;
    }

private:
    /// Where a rank stands: the operation that ended last before the instant, or one that is under way.
    struct Place {
        Ns recordedEnd;
        Ns newEnd;
        bool isInside = false;
    };

    Ns at(std::size_t r, Ns instant) const
    {
        const ledger::RankInput& rank = input_.ranks[r];
        const Ns origin = rank.stretches.empty() ? 0 : rank.stretches.front().begin;
        Place place{ std::min(origin, instant), std::min(origin, instant) };
        look(rank.compute, replayed_.compute(r), instant, place);
        look(rank.parts, replayed_.parts(r), instant, place);
        look(rank.copies, replayed_.copies(r), instant, place);
        return place.isInside ? place.newEnd
                              : place.newEnd + instant - place.recordedEnd - takenAway(r, place.recordedEnd, instant);
    }

    template <typename Op>
    static void look(const std::vector<Op>& ops, std::span<const ledger::ReplayedOp> replayed, Ns instant, Place& place)
    {
        for (std::size_t i = 0; i < ops.size(); ++i) {
            const auto& [begin, end] = replayed[i];
            if (ops[i].end <= instant) {
                const bool isLater
                    = ops[i].end > place.recordedEnd || (ops[i].end == place.recordedEnd && end > place.newEnd);
                if (!place.isInside && isLater)
                    place = { ops[i].end, end };
            } else if (ops[i].begin < instant) {
                const double done
                    = static_cast<double>(instant - ops[i].begin) / static_cast<double>(ops[i].end - ops[i].begin);
                const Ns reached = begin + std::llround(done * static_cast<double>(end - begin));
                place = { instant, place.isInside ? std::max(place.newEnd, reached) : reached, true };
            }
        }
    }

    /// What the change takes away from the rank's gaps in this stretch.
    Ns takenAway(std::size_t r, Ns from, Ns to) const
    {
        Ns taken = 0;
        for (const ledger::Segment& segment : recorded_.ranks[r].segments) {
            if (change_.gapTimes.empty() || segment.begin >= to)
                break;
            const auto times = change_.gapTimes.find({ input_.ranks[r].rank, segment.label });
            if (segment.end <= from || times == change_.gapTimes.end())
                continue;
            for (const ledger::StretchRatio& stretch : times->second) {
                const Ns begin = std::max({ from, segment.begin, stretch.begin });
                const Ns end = std::min({ to, segment.end, stretch.end });
                if (begin < end)
                    taken += end - begin
                        - std::llround(static_cast<double>(end - begin) * static_cast<double>(stretch.ratio.numerator)
                            / static_cast<double>(stretch.ratio.denominator));
            }
        }
        return taken;
    }

    const ledger::LedgerInput& input_;
    const ledger::LedgerResult& recorded_;
    const ledger::ReplayChange& change_;
    const ledger::ReplayResult& replayed_;
};

} // namespace

std::int64_t replayedNs(const ledger::ReplayGraph& graph, const ledger::ReplayChange& change,
    const ledger::ReplayResult& replayed, std::span<const Window> stretches)
{
    if (stretches.empty() || graph.places().empty())
        return replayed.end - replayed.begin;
    const Clock clock(graph, change, replayed);
    std::int64_t sum = 0;
    for (const Window& stretch : stretches) {
        const bool isLast = &stretch == &stretches.back();
        const Ns end = isLast ? clock.lastAt(stretch.endNs) : clock.firstAt(stretch.endNs);
        sum += std::max<Ns>(0, end - clock.firstAt(stretch.beginNs));
    }
    return sum;
}

} // namespace rankscope::tracing
