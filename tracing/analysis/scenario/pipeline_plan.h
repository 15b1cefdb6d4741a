#pragma once

#include "tracing/analysis/ledger/ledger_result.h"
#include "tracing/model/interval.h"
#include "tracing/model/pipeline_schedule.h"
#include "tracing/model/result.h"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace rankscope::tracing::scenario {

/// Time from a message's sending to its arrival, and how much of that keeps the link from the next message.
struct Flight {
    double ns = 0;
    double occupiedNs = 0;
};

/// What one step of a pipeline is made of, as means over replicas and steps, so that other schedules and other numbers
/// of micro-batches can be played. Times of a pass are of one micro-batch through the whole stage, with the host's gaps
/// and all communication but the pipeline's.
struct StageTimes {
    double beforeNs = 0; ///< from the step's begin to the first pass
    double forwardNs = 0;
    double backwardNs = 0; ///< with the gradients of weights
    double weightNs = 0; ///< the part of it that is theirs
    Flight onwards; ///< activations to the next stage
    Flight backwards; ///< gradients to the stage before
};

struct PipelineTimes {
    std::vector<StageTimes> stages;
    double afterNs = 0; ///< from the last pass of any stage to the step's end
    double recordedNs = 0; ///< mean step
};

/// Which kernels of a rank (by index) compute gradients of weights alone.
using IsWeightGradient = std::function<bool(std::size_t rank, std::size_t kernel)>;

/// Measures the steps in these windows. An error where the run declares no pipeline, or where its passes cannot be
/// told.
Result<PipelineTimes> pipelineTimes(const ledger::LedgerInput& input, const ledger::LedgerResult& result,
    std::span<const Window> steps, const IsWeightGradient& isWeightGradient);

/// How long a step takes when a pipeline of these times plays the schedule: a pass begins when the one before it on its
/// stage is over and its message has arrived.
double playedStepNs(const PipelineTimes& times, const Schedule& schedule);

} // namespace rankscope::tracing::scenario
