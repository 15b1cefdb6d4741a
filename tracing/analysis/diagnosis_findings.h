#pragma once

#include "tracing/analysis/findings.h"
#include "tracing/analysis/lateness.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <optional>
#include <vector>

namespace rankscope::tracing {

/// Fills run.diagnoses and run.checkpointTroubles; nothing for runs of other tools, whose steps do not tell enough.
Status addDiagnoses(TraceReader& reader, RunAnalysis& run);

/// What goes wrong in one place: what the steps tell, then ranks that failed, then checkpoints. Costs are the culprit's
/// own excess and all waits that lead to it.
std::vector<Finding> diagnosisFindings(const RunAnalysis& run);

/// Whether one of those speaks about this rank, so that no other finding needs to.
bool isDiagnosed(const RunAnalysis& run, std::int32_t rank);

} // namespace rankscope::tracing
