#pragma once

#include "kernels/bf16.h"
#include "kernels/cost.h"

#include <cstdint>

namespace rankscope::kernels {

inline constexpr float kLayernormEpsilon = 1e-5F;

/// 8 an element: sum, difference, square and its sum, times rstd, gain, bias (Ba et al. 2016, eq. 4).
/// `outputBytes` is an element's of y.
inline KernelCost layernormForwardCost(std::int64_t N, std::int64_t C, int outputBytes = 4)
{
    const double n = static_cast<double>(N), c = static_cast<double>(C);
    return { 8 * n * c, (4 + outputBytes) * n * c + 4 * (2 * n + 2 * c) };
}
/// 14 an element: two row sums (5), dx (5), both parameter gradients (3), the sum into dx (1).
inline KernelCost layernormBackwardCost(std::int64_t N, std::int64_t C)
{
    const double n = static_cast<double>(N), c = static_cast<double>(C);
    return { 14 * n * c, 4 * (4 * n * c + 2 * n + 5 * c) };
}

namespace cpu {
/// Normalises each row of x (N, C) to mean 0 and variance 1, then scales by gain (C) and shifts by bias (C) into y (N,
/// C). Keeps mean (N) and rstd (N) = 1/sqrt(variance + kLayernormEpsilon) for the backward pass. Ba et al. 2016, eq. 4.
void layernormForward(float* y, float* mean, float* rstd, const float* x, const float* gain, const float* bias,
    std::int64_t N, std::int64_t C);
/// Rounded, where only products read it.
void layernormForward(Bf16* y, float* mean, float* rstd, const float* x, const float* gain, const float* bias,
    std::int64_t N, std::int64_t C);

/// Adds the gradients for dy (N, C) to dx (N, C), dgain (C) and dbias (C).
void layernormBackward(float* dx, float* dgain, float* dbias, const float* dy, const float* x, const float* mean,
    const float* rstd, const float* gain, std::int64_t N, std::int64_t C);
} // namespace cpu
namespace reference {
template <typename Real>
void layernormForward(
    Real* y, Real* mean, Real* rstd, const Real* x, const Real* gain, const Real* bias, std::int64_t N, std::int64_t C);
template <typename Real>
void layernormBackward(Real* dx, Real* dgain, Real* dbias, const Real* dy, const Real* x, const Real* mean,
    const Real* rstd, const Real* gain, std::int64_t N, std::int64_t C);
} // namespace reference

} // namespace rankscope::kernels
