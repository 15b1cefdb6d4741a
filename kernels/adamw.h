#pragma once

#include "kernels/cost.h"

#include <cstdint>

namespace rankscope::kernels {

/// Letters of Loshchilov and Hutter 2019, algorithm 2.
struct AdamwSettings {
    float learningRate = 1e-3F;
    float beta1 = 0.9F;
    float beta2 = 0.95F;
    float epsilon = 1e-8F;
    float weightDecay = 0;
    float gradientScale = 1; ///< multiplies every gradient first; where clipping and averaging go
    std::int64_t step = 1; ///< t, counts from 1
};

/// 16 a weight: scaled gradient (1), both moments (3 + 4), their corrections (2), root, sum, quotient (3), decay and
/// update (3).
inline KernelCost adamwCost(std::int64_t n) { return { 16 * static_cast<double>(n), 28 * static_cast<double>(n) }; }

namespace cpu {
/// One update of values (n) with its moments (n, n), which start at 0.
void adamwStep(float* values, float* moment1, float* moment2, const float* gradients, std::int64_t n,
    const AdamwSettings& settings);
} // namespace cpu
namespace reference {
template <typename Real>
void adamwStep(
    Real* values, Real* moment1, Real* moment2, const Real* gradients, std::int64_t n, const AdamwSettings& settings);
}

} // namespace rankscope::kernels
