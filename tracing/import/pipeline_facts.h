#pragma once

#include "tracing/import/source_trace.h"

#include <cstdint>
#include <span>
#include <string>

namespace rankscope::tracing {

/// The schedule that one step of the first stage looks like ("gpipe", "1f1b", "interleaved", "zb-h1"). GPipe runs all
/// forwards before the first backward; where there are no more micro-batches than stages, the first stage looks the
/// same under both, and one forward one backward is what such jobs run.
std::string scheduleOf(
    std::span<const SourceAction> firstStage, std::int32_t stages, std::int32_t microBatches, std::int32_t chunks);

/// What the ranks' actions tell about the job's pipeline, where the files do not say it themselves: each rank's stage
/// (from its annotations, else its place in the pipeline's process group), and into the run's facts stages,
/// micro-batches, model chunks and schedule. Ranks are known.
void findPipeline(std::span<SourceTrace> traces);

} // namespace rankscope::tracing
