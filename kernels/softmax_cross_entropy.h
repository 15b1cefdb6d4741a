#pragma once

#include "kernels/bf16.h"
#include "kernels/cost.h"

#include <cstdint>

namespace rankscope::kernels {

/// 4 a logit: maximum, difference, exp, sum.
inline KernelCost softmaxCrossEntropyForwardCost(std::int64_t N, std::int64_t V)
{
    const double n = static_cast<double>(N), v = static_cast<double>(V);
    return { 4 * n * v, 4 * n * v + 12 * n };
}
/// 3 a logit: difference, exp, scale. `outputBytes` is an element's of the gradient.
inline KernelCost softmaxCrossEntropyBackwardCost(std::int64_t N, std::int64_t V, int outputBytes = 4)
{
    const double n = static_cast<double>(N), v = static_cast<double>(V);
    return { 3 * n * v, (4 + outputBytes) * n * v + 8 * n };
}

namespace cpu {
/// losses (N) = -ln softmax(logits (N, V))[target], in nats; keeps logSumExp (N). A target outside
/// 0 .. V - 1 belongs to another part of a vocabulary that is split: its logit counts as 0 here, and it is no one-hot.
void softmaxCrossEntropyForward(
    float* losses, float* logSumExp, const float* logits, const std::int32_t* targets, std::int64_t N, std::int64_t V);
/// dlogits (N, V) = scale (exp(logits - logSumExp) - one-hot of the target). dlogits may be logits; with logSumExp over
/// the whole vocabulary the exponential is the softmax of a part.
void softmaxCrossEntropyBackward(float* dlogits, const float* logits, const float* logSumExp,
    const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V);
/// Rounded, where only products read it.
void softmaxCrossEntropyBackward(Bf16* dlogits, const float* logits, const float* logSumExp,
    const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V);
} // namespace cpu
namespace reference {
template <typename Real>
void softmaxCrossEntropyForward(
    Real* losses, Real* logSumExp, const Real* logits, const std::int32_t* targets, std::int64_t N, std::int64_t V);
template <typename Real>
void softmaxCrossEntropyBackward(Real* dlogits, const Real* logits, const Real* logSumExp, const std::int32_t* targets,
    Real scale, std::int64_t N, std::int64_t V);
} // namespace reference

} // namespace rankscope::kernels
