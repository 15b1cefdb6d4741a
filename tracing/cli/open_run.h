#pragma once

#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <string>

namespace rankscope::tracing {

/// Opens a run file for reading. What a crash left of its recording is drained into it first.
Result<TraceReader> openRun(const std::string& path);

} // namespace rankscope::tracing
