#pragma once

#include "tracing/analysis/trace_ledger.h"
#include "tracing/model/kinds.h"
#include "tracing/model/rows.h"

#include <cstdint>
#include <vector>

namespace rankscope::tracing {

/// Time on the critical path that one rank spent on one thing. A wait is on it only where nobody can be named whom it
/// is for: else the path goes on where that rank was at its entry.
struct PathShare {
    std::int32_t rank = 0;
    SpanClass label = SpanClass::Unattributed;
    Dimension dimension = Dimension::None; ///< of communication
    std::int64_t ns = 0;
    bool operator==(const PathShare&) const = default;
};

/// What the length of these stretches of time rests on: the critical path through each (METRICS 6), summed by rank and
/// label, most first. The sum is that of the stretches' lengths.
std::vector<PathShare> pathShares(
    const LedgerSource& source, const ledger::LedgerResult& result, const std::vector<Window>& stretches);

} // namespace rankscope::tracing
