#pragma once

#include "tracing/import/json/json_trace_reader.h"
#include "tracing/import/source_trace.h"

#include <string>
#include <vector>

namespace rankscope::tracing {

/// Reads a pipeline timeline (see pipeline_table.h) by the conventions of METRICS 5.5: each step's clock begins anew,
/// so steps are laid one behind another and a step is the same stretch for all ranks; computation is kernels with their
/// pass and micro-batch; the steps' collectives go by operation, place in the mesh and number; messages with equal
/// begin and end are one launch. A trace for each rank; the other members of tensor groups were not recorded.
Result<std::vector<SourceTrace>> readPipelineTimeline(
    const std::string& path, const ReadProgressCallback& progress = {});

} // namespace rankscope::tracing
