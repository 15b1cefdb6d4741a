#pragma once

#include "tracing/analysis/step_series.h"
#include "tracing/model/result.h"

#include <string>

namespace rankscope::tracing {

/// "A:B" means steps A to B, both counted; "A" means one.
Result<StepRange> parseSteps(const std::string& text);

} // namespace rankscope::tracing
