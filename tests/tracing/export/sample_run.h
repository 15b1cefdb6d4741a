#pragma once

#include "tracing/analysis/run_analysis.h"

namespace rankscope::tracing {

/// Two pipeline stages over 10 steps of 100 ms with some of everything; sums are worked out in the .cpp.
RunAnalysis sampleRun();

} // namespace rankscope::tracing
