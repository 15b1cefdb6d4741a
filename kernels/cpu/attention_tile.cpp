#include "kernels/cpu/attention_tile.h"

#include "kernels/cpu/simd.h"

#include <cstring>

namespace rankscope::kernels::cpu {

namespace {

constexpr int kRows = 4;

template <int Bytes> struct Vector {
    using Type __attribute__((vector_size(Bytes))) = float;
    static constexpr int lanes = Bytes / 4;
};

// c[0:4, 0:W vectors] held in registers while k runs: W loads of b and 4 broadcasts of a feed 4 W multiply-adds.
template <typename V, int W>
[[gnu::always_inline]] inline void multiplyBlock(const TileProduct& p, std::int64_t m, std::int64_t n)
{
    using Vec = typename V::Type;
    float* c = p.c + m * p.rowC + n;
    const float* a = p.a + m * p.rowA;
    const float* b = p.b + n;
    Vec sums[kRows][W];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int w = 0; w < W; ++w) {
            if (p.accumulate)
                std::memcpy(&sums[r][w], c + r * p.rowC + w * V::lanes, sizeof(Vec));
            else
                sums[r][w] = Vec{};
        }
    }
    for (std::int64_t k = 0; k < p.K; ++k, b += p.rowB, a += p.columnA) {
        Vec line[W];
#pragma GCC unroll 4
        for (int w = 0; w < W; ++w)
            std::memcpy(&line[w], b + w * V::lanes, sizeof(Vec));
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
            const float x = a[r * p.rowA];
#pragma GCC unroll 4
            for (int w = 0; w < W; ++w)
                sums[r][w] += line[w] * x;
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
        for (int w = 0; w < W; ++w)
            std::memcpy(c + r * p.rowC + w * V::lanes, &sums[r][w], sizeof(Vec));
}

// Columns outside, so that a strip of b stays in the nearest cache for all rows.
template <typename V, int W>
[[gnu::always_inline]] inline std::int64_t multiplyStrips(const TileProduct& p, std::int64_t n)
{
    for (; n + W * V::lanes <= p.N; n += W * V::lanes)
        for (std::int64_t m = 0; m < p.M; m += kRows)
            multiplyBlock<V, W>(p, m, n);
    return n;
}

#if defined(__x86_64__)
// 32 registers of 64 bytes: 4 x 4 sums.
__attribute__((target("arch=x86-64-v4"))) void multiplyWide(const TileProduct& p)
{
    std::int64_t n = multiplyStrips<Vector<64>, 4>(p, 0);
    n = multiplyStrips<Vector<64>, 2>(p, n);
    multiplyStrips<Vector<64>, 1>(p, n);
}
#endif

// 16 registers of 32 bytes: 4 x 2 sums.
RS_SIMD_CLONES void multiplyHalf(const TileProduct& p) { multiplyStrips<Vector<32>, 2>(p, 0); }

} // namespace

void multiplyTileNarrow(const TileProduct& product) { multiplyHalf(product); }

void multiplyTile(const TileProduct& product)
{
#if defined(__x86_64__)
    static const bool wide = __builtin_cpu_supports("x86-64-v4");
    if (wide) {
        multiplyWide(product);
        return;
    }
#endif
    multiplyTileNarrow(product);
}

} // namespace rankscope::kernels::cpu
