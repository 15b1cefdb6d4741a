#pragma once

#include "kernels/cost.h"

#include <cstdint>

namespace rankscope::kernels {

/// N rows, each with a probability for every one of E experts, of which it chooses K.
struct RouteShape {
    std::int64_t N = 0, E = 0, K = 0;
};

/// Softmax (3 operations an element) and K passes over each row.
inline KernelCost routeCost(const RouteShape& s)
{
    const double n = static_cast<double>(s.N * s.E), k = static_cast<double>(s.K);
    return { n * (3 + k), 8 * n + 4 * static_cast<double>(s.N) * k };
}
inline KernelCost routeBackwardCost(const RouteShape& s)
{
    const double n = static_cast<double>(s.N * s.E);
    return { 4 * n, 12 * n };
}
/// M rows of C numbers read and written.
inline KernelCost takeRowsCost(std::int64_t M, std::int64_t C) { return { 0, 8 * static_cast<double>(M * C) }; }
/// One addition an element, with a gate a product as well.
inline KernelCost addRowsCost(std::int64_t M, std::int64_t C, bool gated)
{
    const double n = static_cast<double>(M * C);
    return { gated ? 2 * n : n, 12 * n };
}
inline KernelCost addRowsBackwardCost(std::int64_t M, std::int64_t C)
{
    const double n = static_cast<double>(M * C);
    return { 3 * n, 12 * n };
}

namespace cpu {
/// probabilities (N, E): softmax of each row of logits (N, E), which may be the same array. chosen (N, K): the experts
/// with the greatest probabilities of each row, greatest first, of equals the one with the lower number.
void routeForward(float* probabilities, std::int32_t* chosen, const float* logits, const RouteShape& shape);
/// dlogits (N, E) of the softmax from dprobabilities (N, E), which may be the same array.
void routeBackward(float* dlogits, const float* dprobabilities, const float* probabilities, const RouteShape& shape);

/// Loss of one sequence of N rows that is least, 1, where all experts are used alike: sum over experts of E / (K N) x
/// its choices x its mean probability. Fedus et al. 2021, eq. 4, for each sequence: DeepSeek-V3 (2024), eq. 17.
double balanceLoss(const float* probabilities, const std::int32_t* chosen, const RouteShape& shape);
/// Adds scale x N x the gradient of balanceLoss() to dprobabilities (N, E); choices count as constant.
void balanceBackward(float* dprobabilities, const std::int32_t* chosen, float scale, const RouteShape& shape);

/// y (M, C): y[i] = x[rows[i]].
void takeRows(float* y, const float* x, const std::int32_t* rows, std::int64_t M, std::int64_t C);
/// y[rows[i]] += gates[i] x[i] for the M rows of x (M, C); without gates (null) as if they were 1.
void addRows(float* y, const float* x, const std::int32_t* rows, const float* gates, std::int64_t M, std::int64_t C);
/// Of the gated addRows(): dx[i] = gates[i] dy[rows[i]], dgates[i] = dy[rows[i]] . x[i].
void addRowsBackward(float* dx, float* dgates, const float* dy, const float* x, const std::int32_t* rows,
    const float* gates, std::int64_t M, std::int64_t C);
} // namespace cpu
namespace reference {
template <typename Real>
void routeForward(Real* probabilities, std::int32_t* chosen, const Real* logits, const RouteShape& shape);
template <typename Real>
void routeBackward(Real* dlogits, const Real* dprobabilities, const Real* probabilities, const RouteShape& shape);
template <typename Real>
double balanceLoss(const Real* probabilities, const std::int32_t* chosen, const RouteShape& shape);
template <typename Real>
void balanceBackward(Real* dprobabilities, const std::int32_t* chosen, Real scale, const RouteShape& shape);
template <typename Real>
void takeRows(Real* y, const Real* x, const std::int32_t* rows, std::int64_t M, std::int64_t C);
template <typename Real>
void addRows(Real* y, const Real* x, const std::int32_t* rows, const Real* gates, std::int64_t M, std::int64_t C);
template <typename Real>
void addRowsBackward(Real* dx, Real* dgates, const Real* dy, const Real* x, const std::int32_t* rows, const Real* gates,
    std::int64_t M, std::int64_t C);
} // namespace reference

} // namespace rankscope::kernels
