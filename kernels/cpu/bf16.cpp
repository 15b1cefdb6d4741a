#include "kernels/bf16.h"

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"

namespace rankscope::kernels::cpu {

namespace {

RS_SIMD_CLONES void roundRange(Bf16* y, const float* x, std::int64_t n)
{
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
        y[i] = Bf16::of(x[i]);
}

} // namespace

void roundToBf16(Bf16* y, const float* x, std::int64_t n)
{
    parallelRanges(n, kElementGrain,
        [=](std::int64_t begin, std::int64_t end, int) { roundRange(y + begin, x + begin, end - begin); });
}

bool hasBf16()
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16") != 0;
#else
    return false;
#endif
}

} // namespace rankscope::kernels::cpu
