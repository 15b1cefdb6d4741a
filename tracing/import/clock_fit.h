#pragma once

#include "tracing/import/clock_map.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::tracing {

/// When one clock and another saw the same instant.
struct ClockSample {
    std::int64_t fromNs = 0;
    std::int64_t toNs = 0;
};

struct ClockFit {
    ClockMap map; ///< from the one to the other
    std::int64_t residualNs = 0; ///< median of what is left
    std::int64_t errorNs = 0; ///< 95th percentile of it, or the greatest lasting deviation where that is more
};

/// The clock fit through the samples: the median of their differences, or a line through medians of stretches of them
/// where that leaves less than half and the drift is one that clocks have (up to 500 parts in a million). A clock that
/// was set anew in between fits neither: the error tells. At least one sample.
ClockFit fitClock(std::span<const ClockSample> samples);

/// How well a map of the one clock to the other, found elsewhere, fits samples in order of time.
ClockFit judgeClock(const ClockMap& map, std::span<const ClockSample> sorted);

/// The median; of an even number the middle one nearer to 0, so that nothing moves without need. 0 of none.
std::int64_t leastMedian(std::vector<std::int64_t> values);

/// The q-quantile; 0 of none.
std::int64_t quantile(std::vector<std::int64_t> values, double q);

} // namespace rankscope::tracing
