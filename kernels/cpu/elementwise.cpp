#include "kernels/elementwise.h"

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"

#include <algorithm>

namespace rankscope::kernels::cpu {

namespace {

RS_SIMD_CLONES void addRange(float* y, const float* x, std::int64_t n)
{
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
        y[i] += x[i];
}

RS_SIMD_CLONES void scaleRange(float* x, float factor, std::int64_t n)
{
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
        x[i] *= factor;
}

// Four rows at a time: a quarter of the loads and stores of the sums.
template <typename In>
RS_SIMD_BODY void sumColumnsBody(
    float* dbias, const In* dy, std::int64_t N, std::int64_t C, std::int64_t begin, std::int64_t end)
{
    std::int64_t n = 0;
    for (; n + 4 <= N; n += 4) {
        const In* row = dy + n * C;
#pragma omp simd
        for (std::int64_t c = begin; c < end; ++c)
            dbias[c] += (load(row[c]) + load(row[C + c])) + (load(row[2 * C + c]) + load(row[3 * C + c]));
    }
    for (; n < N; ++n) {
        const In* row = dy + n * C;
#pragma omp simd
        for (std::int64_t c = begin; c < end; ++c)
            dbias[c] += load(row[c]);
    }
}

RS_SIMD_CLONES void sumColumns(
    float* dbias, const float* dy, std::int64_t N, std::int64_t C, std::int64_t begin, std::int64_t end)
{
    sumColumnsBody(dbias, dy, N, C, begin, end);
}
RS_SIMD_CLONES void sumColumns(
    float* dbias, const Bf16* dy, std::int64_t N, std::int64_t C, std::int64_t begin, std::int64_t end)
{
    sumColumnsBody(dbias, dy, N, C, begin, end);
}

template <typename In> void sumColumnsInParts(float* dbias, const In* dy, std::int64_t N, std::int64_t C)
{
    // Threads divide the columns, so that the order of the sum is that of the rows.
    parallelRanges(C, kElementGrain / N + 1,
        [=](std::int64_t begin, std::int64_t end, int) { sumColumns(dbias, dy, N, C, begin, end); });
}

} // namespace

void clear(float* x, std::int64_t n)
{
    parallelRanges(
        n, kElementGrain, [=](std::int64_t begin, std::int64_t end, int) { std::fill(x + begin, x + end, 0.0F); });
}

void copy(float* y, const float* x, std::int64_t n)
{
    parallelRanges(
        n, kElementGrain, [=](std::int64_t begin, std::int64_t end, int) { std::copy(x + begin, x + end, y + begin); });
}

void add(float* y, const float* x, std::int64_t n)
{
    parallelRanges(n, kElementGrain,
        [=](std::int64_t begin, std::int64_t end, int) { addRange(y + begin, x + begin, end - begin); });
}

void scale(float* x, float factor, std::int64_t n)
{
    parallelRanges(n, kElementGrain,
        [=](std::int64_t begin, std::int64_t end, int) { scaleRange(x + begin, factor, end - begin); });
}

void biasBackward(float* dbias, const float* dy, std::int64_t N, std::int64_t C) { sumColumnsInParts(dbias, dy, N, C); }

void biasBackward(float* dbias, const Bf16* dy, std::int64_t N, std::int64_t C) { sumColumnsInParts(dbias, dy, N, C); }

} // namespace rankscope::kernels::cpu
