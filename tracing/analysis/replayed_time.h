#pragma once

#include "tracing/analysis/ledger/replay.h"
#include "tracing/model/rows.h"

#include <cstdint>
#include <vector>

namespace rankscope::tracing {

/// How long these stretches of recorded time, such as the counted steps, last in a replay: from when the first rank
/// comes to a stretch's begin until the first comes to its end, at the run's end until the last does. A rank comes to
/// an instant when what it did before is done and what the change leaves of the gap until then is over. Without a
/// change the sum of their lengths. No stretches: from the first begin to the last end of any operation.
class ReplayedTime {
public:
    /// The graph has to outlive it.
    ReplayedTime(const ledger::ReplayGraph& graph, const std::vector<Window>& stretches);

    std::int64_t of(const ledger::ReplayChange& change, const ledger::ReplayResult& replayed) const;

private:
    struct UnderWay {
        ledger::ReplayGraph::Op op = 0;
        double done = 0; ///< share of it
    };
    /// Where a rank stands at an instant as recorded: in operations, or behind those that ended last before it.
    struct Place {
        std::vector<UnderWay> underWay;
        std::vector<ledger::ReplayGraph::Op> ended;
        ledger::Ns instant = 0;
        ledger::Ns endedAt = 0; ///< the rank's origin where nothing has ended since
        bool isOrigin = true;
    };
    struct Stretch {
        std::vector<Place> begin, end; ///< by rank index
    };

    std::vector<Place> placesAt(ledger::Ns instant) const;
    template <typename Rows> static void look(const Rows& rows, ledger::ReplayGraph::Op first, Place& place);
    ledger::Ns reached(std::size_t rank, const Place& place, const ledger::ReplayChange& change,
        const ledger::ReplayResult& replayed) const;
    ledger::Ns takenAway(std::size_t rank, ledger::Ns from, ledger::Ns to, const ledger::ReplayChange& change) const;

    const ledger::ReplayGraph& graph_;
    std::vector<Stretch> stretches_;
};

} // namespace rankscope::tracing
