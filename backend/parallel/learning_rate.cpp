#include "backend/parallel/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rankscope::backend {

double LearningRate::at(std::int64_t step) const
{
    if (step < warmup)
        return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
    const std::int64_t falling = std::max<std::int64_t>(1, steps - 1 - warmup);
    const double progress = std::min(1.0, static_cast<double>(step - warmup) / static_cast<double>(falling));
    return peak * (final + (1 - final) * 0.5 * (1 + std::cos(std::numbers::pi * progress)));
}

} // namespace rankscope::backend
