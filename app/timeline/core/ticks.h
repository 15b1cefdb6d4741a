#pragma once

#include "app/timeline/core/time_map.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::app::timeline {

struct Tick {
    double ns = 0;
    std::string text; ///< empty: a minor tick
};

/// Ticks of the ruler at 1, 2 or 5 times a power of ten, at least minPx apart, minor ones at fifths (halves for 2).
/// Times are written with the decimals that the step needs; deep in a long run they are written relative to the first
/// tick:
/// "+12 µs".
std::vector<Tick> rulerTicks(const TimeMap& map, double minPx);

} // namespace rankscope::app::timeline
