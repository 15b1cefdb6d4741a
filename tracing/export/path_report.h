#pragma once

#include "tracing/analysis/run_analysis.h"
#include "tracing/export/json_writer.h"

#include <string>

namespace rankscope::tracing {

/// The member "critical_path".
void writePath(JsonWriter& json, const RunAnalysis& run);

/// What the counted time rests on: a line for each kind of time, with the ranks that it was spent on.
std::string pathText(const RunAnalysis& run);

} // namespace rankscope::tracing
