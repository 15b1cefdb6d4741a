#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::backend {

/// What a stage does next. Receiving its input and sending its output belong to the action.
enum class ActionKind : std::uint8_t {
    Forward,
    Backward, ///< gradients of inputs and of weights
};

struct Action {
    ActionKind kind = ActionKind::Forward;
    int microBatch = 0;
    int chunk = 0; ///< model chunk of the stage, 0 unless stages are interleaved

    bool operator==(const Action&) const = default;
};

/// One step of a pipeline: what each stage does, in order.
struct Schedule {
    std::string name;
    int stages = 0;
    int microBatches = 0;
    std::vector<std::vector<Action>> actions; ///< by stage
};

/// One forward, one backward: stage s runs p - 1 - s forwards ahead, then alternates, so that it never keeps more than
/// p - s micro-batches. Narayanan et al. 2019 (PipeDream-Flush in Narayanan et al. 2021). stages and microBatches are
/// at least 1.
Schedule oneForwardOneBackward(int stages, int microBatches);

/// Most micro-batches that stage `stage` keeps between their forward and backward pass.
int peakActivations(const Schedule& schedule, int stage);

} // namespace rankscope::backend
