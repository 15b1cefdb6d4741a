#pragma once

#include "tracing/analysis/run_analysis.h"

#include <string>

namespace rankscope::tracing {

/// The report with the keys that scripts rely on ("schema": 1). Times are integer ns. `split_ns` of a rank holds its
/// parts by leaf; they sum to window_ns exactly.
std::string reportJson(const RunAnalysis& run);

} // namespace rankscope::tracing
