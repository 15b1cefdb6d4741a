#pragma once

#include "tracing/analysis/time_split.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// One part of a time split under the name that reports and files use: "compute", "wait.dp", "bubble.fill", ...
struct Leaf {
    std::string name;
    std::int64_t ns = 0;
};

/// All parts, disjoint; their sum is the split's window. Dimensions only where they have any time.
std::vector<Leaf> leavesOf(const TimeSplit& split);

/// The parts as a person reads them, dimensions and phases summed: "compute", "waiting for others", ... .
/// In the order of the ledger; parts of no length are left out. Same sum.
std::vector<Leaf> leavesInWords(const TimeSplit& split);

} // namespace rankscope::tracing
