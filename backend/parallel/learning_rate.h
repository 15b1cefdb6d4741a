#pragma once

#include <cstdint>

namespace rankscope::backend {

/// Learning rate by step: rises in a straight line over `warmup` steps, then falls along half a cosine to `final` times
/// the peak at the last step. Loshchilov and Hutter 2017 (one cycle), with the usual warm-up.
struct LearningRate {
    double peak = 1e-3;
    double final = 0.1; ///< share of the peak
    std::int64_t warmup = 0;
    std::int64_t steps = 1;

    /// `step` counts from 0.
    double at(std::int64_t step) const;
};

} // namespace rankscope::backend
