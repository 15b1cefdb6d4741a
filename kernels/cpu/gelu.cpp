#include "kernels/gelu.h"

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"

namespace rankscope::kernels::cpu {

namespace {

// (1 + tanh u) / 2 is the logistic function of 2 u, which needs one exp.
constexpr float kTwiceRoot = 1.5957691216F; // 2 sqrt(2/pi)
constexpr float kCubic = 0.044715F;

inline float gate(float x) { return 1.0F / (1.0F + fastExp(-kTwiceRoot * (x + kCubic * x * x * x))); }

template <typename Out> RS_SIMD_BODY void forwardBody(Out* y, const float* x, std::int64_t n)
{
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
        store(y[i], x[i] * gate(x[i]));
}

template <typename Out> RS_SIMD_BODY void backwardBody(Out* dx, const float* dy, const float* x, std::int64_t n)
{
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
        const float v = x[i];
        const float g = gate(v);
        const float slope = kTwiceRoot * (1.0F + 3.0F * kCubic * v * v);
        store(dx[i], dy[i] * (g + v * g * (1.0F - g) * slope));
    }
}

RS_SIMD_CLONES void forwardRange(float* y, const float* x, std::int64_t n) { forwardBody(y, x, n); }
RS_SIMD_CLONES void forwardRange(Bf16* y, const float* x, std::int64_t n) { forwardBody(y, x, n); }
RS_SIMD_CLONES void backwardRange(float* dx, const float* dy, const float* x, std::int64_t n)
{
    backwardBody(dx, dy, x, n);
}
RS_SIMD_CLONES void backwardRange(Bf16* dx, const float* dy, const float* x, std::int64_t n)
{
    backwardBody(dx, dy, x, n);
}

template <typename Out> void forwardParts(Out* y, const float* x, std::int64_t n)
{
    parallelRanges(n, kElementGrain,
        [=](std::int64_t begin, std::int64_t end, int) { forwardRange(y + begin, x + begin, end - begin); });
}

template <typename Out> void backwardParts(Out* dx, const float* dy, const float* x, std::int64_t n)
{
    parallelRanges(n, kElementGrain, [=](std::int64_t begin, std::int64_t end, int) {
        backwardRange(dx + begin, dy + begin, x + begin, end - begin);
    });
}

} // namespace

void geluForward(float* y, const float* x, std::int64_t n) { forwardParts(y, x, n); }
void geluForward(Bf16* y, const float* x, std::int64_t n) { forwardParts(y, x, n); }
void geluBackward(float* dx, const float* dy, const float* x, std::int64_t n) { backwardParts(dx, dy, x, n); }
void geluBackward(Bf16* dx, const float* dy, const float* x, std::int64_t n) { backwardParts(dx, dy, x, n); }

} // namespace rankscope::kernels::cpu
