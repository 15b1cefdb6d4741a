#pragma once

#include "kernels/bf16.h"
#include "kernels/cost.h"

#include <cstdint>

namespace rankscope::kernels {

/// B sequences of T tokens, H heads of D floats; C = H D.
struct AttentionShape {
    std::int64_t B = 0, T = 0, H = 0, D = 0;
};

/// Causal pairs only: each of the T (T + 1) / 2 pairs of a query and a key costs 2 D for the score and 2 D for the sum
/// over values. The softmax is not counted (Dao et al. 2022, 2023 count alike, with T^2 / 2 pairs).
/// `outputBytes` is an element's of out.
inline KernelCost attentionForwardCost(const AttentionShape& s, int outputBytes = 4)
{
    const double heads = static_cast<double>(s.B * s.H), T = static_cast<double>(s.T), D = static_cast<double>(s.D);
    return { 4 * heads * D * T * (T + 1) / 2, heads * T * ((12 + outputBytes) * D + 4) };
}
/// Twice the forward pass: gradients of both products. The scores that the kernel computes again are not counted.
/// `outputBytes` is an element's of out and of dqkv.
inline KernelCost attentionBackwardCost(const AttentionShape& s, int outputBytes = 4)
{
    const double heads = static_cast<double>(s.B * s.H), T = static_cast<double>(s.T), D = static_cast<double>(s.D);
    return { 8 * heads * D * T * (T + 1) / 2, heads * T * ((16 + 4 * outputBytes) * D + 4) };
}

namespace cpu {
/// Causal multi-head attention (Vaswani et al. 2017, eq. 1): per head softmax(q k^T / sqrt(D), keys <= query) v.
/// qkv (B, T, 3, H, D): each token's queries of all heads, then keys, then values. out (B, T, H, D).
/// Keeps logSumExp (B, H, T) of the scaled scores, from which the backward pass rebuilds the softmax (Dao et al. 2022):
/// memory grows with T, not T^2.
void attentionForward(float* out, float* logSumExp, const float* qkv, const AttentionShape& shape);
/// Rounded, for the products that read it.
void attentionForward(Bf16* out, float* logSumExp, const float* qkv, const AttentionShape& shape);

/// Overwrites dqkv (B, T, 3, H, D) with the gradient for dout (B, T, H, D).
void attentionBackward(float* dqkv, const float* dout, const float* out, const float* qkv, const float* logSumExp,
    const AttentionShape& shape);
void attentionBackward(Bf16* dqkv, const float* dout, const Bf16* out, const float* qkv, const float* logSumExp,
    const AttentionShape& shape);
} // namespace cpu
namespace reference {
template <typename Real>
void attentionForward(Real* out, Real* logSumExp, const Real* qkv, const AttentionShape& shape);
template <typename Real>
void attentionBackward(
    Real* dqkv, const Real* dout, const Real* out, const Real* qkv, const Real* logSumExp, const AttentionShape& shape);
} // namespace reference

} // namespace rankscope::kernels
