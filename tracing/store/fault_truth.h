#pragma once

#include "tracing/model/result.h"
#include "tracing/model/rows.h"

#include <string>
#include <vector>

namespace rankscope::tracing {

/// The faults that the backend injected into a run, by begin; an end of INT64_MAX: it did not end. For scoring
/// diagnoses against the truth only: analyses read through TraceReader, which refuses this table.
Result<std::vector<FaultInjection>> readFaultTruth(const std::string& runFile);

} // namespace rankscope::tracing
