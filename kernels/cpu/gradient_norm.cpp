#include "kernels/gradient_norm.h"

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace rankscope::kernels::cpu {

namespace {

// Fixed blocks, so that the sum does not depend on who computes which.
constexpr std::int64_t kBlock = 16384;

RS_SIMD_CLONES double blockSum(const float* x, std::int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i)
        sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    return sum;
}

} // namespace

double squaredNorm(const float* x, std::int64_t n)
{
    const std::int64_t blocks = (n + kBlock - 1) / kBlock;
    std::vector<double> sums(static_cast<std::size_t>(blocks));
    double* out = sums.data();
    parallelRanges(blocks, 4, [=](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t block = begin; block < end; ++block)
            out[block] = blockSum(x + block * kBlock, std::min(kBlock, n - block * kBlock));
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

} // namespace rankscope::kernels::cpu
