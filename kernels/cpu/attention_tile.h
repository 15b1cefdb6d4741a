#pragma once

#include <cstdint>

namespace rankscope::kernels::cpu {

/// Rows of one block of queries: small enough that little of a block on the diagonal is masked, large enough to reuse
/// each key from a register.
inline constexpr std::int64_t kQueryBlock = 32;

/// Floats of the widest vector: leading sizes are padded to it.
inline constexpr std::int64_t kLanes = 16;

/// c (M, N) = a (M, K) times b (K, N), plus c where `accumulate`. a(m, k) is a[m * rowA + k * columnA], so a may be
/// transposed at no cost; rows of b and c lie without a gap between columns. M is a multiple of 4, N of kLanes. On the
/// calling thread.
struct TileProduct {
    float* c;
    std::int64_t rowC;
    const float* a;
    std::int64_t rowA, columnA;
    const float* b;
    std::int64_t rowB;
    std::int64_t M, N, K;
    bool accumulate;
};
void multiplyTile(const TileProduct& product);

/// What multiplyTile() does where there is no AVX-512.
void multiplyTileNarrow(const TileProduct& product);

} // namespace rankscope::kernels::cpu
