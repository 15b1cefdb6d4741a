#pragma once

#include "tracing/analysis/ledger/replay.h"
#include "tracing/model/rows.h"

#include <cstdint>
#include <span>

namespace rankscope::tracing {

/// How long these stretches of recorded time, such as the counted steps, last in a replay: from when the first rank
/// comes to a stretch's begin until the first comes to its end, at the run's end until the last does. A rank comes to
/// an instant when what it did before is done and what the change leaves of the gap until then is over. Without a
/// change the sum of their lengths. No stretches: from the first begin to the last end of any operation.
std::int64_t replayedNs(const ledger::ReplayGraph& graph, const ledger::ReplayChange& change,
    const ledger::ReplayResult& replayed, std::span<const Window> stretches);

} // namespace rankscope::tracing
