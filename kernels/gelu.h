#pragma once

#include "kernels/bf16.h"
#include "kernels/cost.h"

#include <cstdint>

namespace rankscope::kernels {

/// 9 an element: the operations of the formula, tanh as one.
/// `outputBytes` is an element's of the result.
inline KernelCost geluForwardCost(std::int64_t n, int outputBytes = 4)
{
    return { 9 * static_cast<double>(n), (4 + outputBytes) * static_cast<double>(n) };
}
/// 17 an element: the formula's derivative with tanh as one, times dy.
inline KernelCost geluBackwardCost(std::int64_t n, int outputBytes = 4)
{
    return { 17 * static_cast<double>(n), (8 + outputBytes) * static_cast<double>(n) };
}

namespace cpu {
/// y (n) = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), GPT-2's form (Hendrycks and Gimpel 2016, section 2). y may be
/// x.
void geluForward(float* y, const float* x, std::int64_t n);
/// Rounded, where only products read it.
void geluForward(Bf16* y, const float* x, std::int64_t n);
/// dx (n) = dy times the derivative at x. dx may be dy.
void geluBackward(float* dx, const float* dy, const float* x, std::int64_t n);
void geluBackward(Bf16* dx, const float* dy, const float* x, std::int64_t n);
} // namespace cpu
namespace reference {
template <typename Real> void geluForward(Real* y, const Real* x, std::int64_t n);
template <typename Real> void geluBackward(Real* dx, const Real* dy, const Real* x, std::int64_t n);
} // namespace reference

} // namespace rankscope::kernels
