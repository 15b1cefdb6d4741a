#include "kernels/gelu.h"

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"

namespace rankscope::kernels::cpu {

namespace {

// (1 + tanh u) / 2 is the logistic function of 2 u, which needs one exp.
constexpr float kTwiceRoot = 1.5957691216F; // 2 sqrt(2/pi)
constexpr float kCubic = 0.044715F;

inline float gate(float x) { return 1.0F / (1.0F + fastExp(-kTwiceRoot * (x + kCubic * x * x * x))); }

RS_SIMD_CLONES void forwardRange(float* y, const float* x, std::int64_t n)
{
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
        y[i] = x[i] * gate(x[i]);
}

RS_SIMD_CLONES void backwardRange(float* dx, const float* dy, const float* x, std::int64_t n)
{
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
        const float v = x[i];
        const float g = gate(v);
        const float slope = kTwiceRoot * (1.0F + 3.0F * kCubic * v * v);
        dx[i] = dy[i] * (g + v * g * (1.0F - g) * slope);
    }
}

} // namespace

void geluForward(float* y, const float* x, std::int64_t n)
{
    parallelRanges(n, kElementGrain,
        [=](std::int64_t begin, std::int64_t end, int) { forwardRange(y + begin, x + begin, end - begin); });
}

void geluBackward(float* dx, const float* dy, const float* x, std::int64_t n)
{
    parallelRanges(n, kElementGrain, [=](std::int64_t begin, std::int64_t end, int) {
        backwardRange(dx + begin, dy + begin, x + begin, end - begin);
    });
}

} // namespace rankscope::kernels::cpu
