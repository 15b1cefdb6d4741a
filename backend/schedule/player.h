#pragma once

#include "backend/schedule/schedule.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::backend {

/// How long actions take, in any one unit; of a chunk, where stages have several. The same on every stage: balanced.
struct ActionTimes {
    std::int64_t forward = 1;
    std::int64_t backward = 2; ///< of inputs and weights
    std::int64_t weight = 1; ///< the weights' share of it
    std::int64_t transfer = 0; ///< from the end of an action to where its output is needed
};

/// What a schedule costs when every stage does its actions in order, each as early as its input allows.
struct Played {
    std::int64_t duration = 0; ///< of the step, over all stages
    struct Stage {
        std::int64_t busy = 0;
        std::int64_t fill = 0; ///< idle before the first forward
        std::int64_t steady = 0; ///< idle between the first forward and the last backward
        std::int64_t drain = 0; ///< idle after the last backward
        int peakActivations = 0;

        std::int64_t bubble() const { return fill + steady + drain; }
    };
    std::vector<Stage> stages;
};

/// Why a schedule cannot run: an action that is missing, doubled or out of order (backward before its forward, weights
/// before inputs), or stages that wait for each other for ever. Empty if it can.
std::optional<std::string> faultOf(const Schedule& schedule);

/// Plays a schedule without a fault (see faultOf).
Played play(const Schedule& schedule, const ActionTimes& times);

} // namespace rankscope::backend
