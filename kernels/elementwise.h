#pragma once

#include "kernels/bf16.h"
#include "kernels/cost.h"

#include <cstdint>

namespace rankscope::kernels {

inline KernelCost clearCost(std::int64_t n) { return { 0, 4 * static_cast<double>(n) }; }
inline KernelCost copyCost(std::int64_t n) { return { 0, 8 * static_cast<double>(n) }; }
inline KernelCost addCost(std::int64_t n) { return { static_cast<double>(n), 12 * static_cast<double>(n) }; }
/// `inputBytes` is an element's of dy.
inline KernelCost biasBackwardCost(std::int64_t N, std::int64_t C, int inputBytes = 4)
{
    const double n = static_cast<double>(N), c = static_cast<double>(C);
    return { n * c, inputBytes * n * c + 8 * c };
}

namespace cpu {
/// x (n) = 0.
void clear(float* x, std::int64_t n);
/// y (n) = x (n).
void copy(float* y, const float* x, std::int64_t n);
/// y (n) += x (n).
void add(float* y, const float* x, std::int64_t n);
/// x (n) *= factor.
void scale(float* x, float factor, std::int64_t n);
/// Adds the column sums of dy (N, C) to dbias (C).
void biasBackward(float* dbias, const float* dy, std::int64_t N, std::int64_t C);
void biasBackward(float* dbias, const Bf16* dy, std::int64_t N, std::int64_t C);
} // namespace cpu
namespace reference {
template <typename Real> void clear(Real* x, std::int64_t n);
template <typename Real> void copy(Real* y, const Real* x, std::int64_t n);
template <typename Real> void add(Real* y, const Real* x, std::int64_t n);
template <typename Real> void scale(Real* x, Real factor, std::int64_t n);
template <typename Real> void biasBackward(Real* dbias, const Real* dy, std::int64_t N, std::int64_t C);
} // namespace reference

} // namespace rankscope::kernels
