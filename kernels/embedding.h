#pragma once

#include "kernels/cost.h"

#include <cstdint>

namespace rankscope::kernels {

struct EmbeddingShape {
    std::int64_t B = 0, T = 0, C = 0;
};

/// One addition an element; both rows read, one written.
inline KernelCost embeddingForwardCost(const EmbeddingShape& s)
{
    const double n = static_cast<double>(s.B * s.T * s.C);
    return { n, 12 * n };
}
/// Two additions an element, into the token's and the position's row.
inline KernelCost embeddingBackwardCost(const EmbeddingShape& s)
{
    const double n = static_cast<double>(s.B * s.T * s.C);
    return { 2 * n, 4 * n + 8 * (n + static_cast<double>(s.T * s.C)) };
}

namespace cpu {
/// y (B, T, C) = table row of tokens (B, T) plus the row of positions (T, C). Tokens must lie in the table (V, C).
void embeddingForward(
    float* y, const std::int32_t* tokens, const float* table, const float* positions, const EmbeddingShape& shape);
/// Adds dy (B, T, C) to dtable (V, C) and dpositions (T, C).
void embeddingBackward(
    float* dtable, float* dpositions, const float* dy, const std::int32_t* tokens, const EmbeddingShape& shape);
} // namespace cpu
namespace reference {
template <typename Real>
void embeddingForward(
    Real* y, const std::int32_t* tokens, const Real* table, const Real* positions, const EmbeddingShape& shape);
template <typename Real>
void embeddingBackward(
    Real* dtable, Real* dpositions, const Real* dy, const std::int32_t* tokens, const EmbeddingShape& shape);
} // namespace reference

} // namespace rankscope::kernels
