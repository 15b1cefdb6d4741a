#include "kernels/layernorm.h"

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"

#include <cmath>
#include <vector>

namespace rankscope::kernels::cpu {

namespace {

template <typename Out>
RS_SIMD_BODY void forwardBody(Out* y, float* mean, float* rstd, const float* x, const float* gain, const float* bias,
    std::int64_t N, std::int64_t C)
{
    for (std::int64_t n = 0; n < N; ++n, x += C, y += C) {
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t c = 0; c < C; ++c)
            sum += x[c];
        const float m = sum / static_cast<float>(C);
#pragma omp simd reduction(+ : squares)
        for (std::int64_t c = 0; c < C; ++c)
            squares += (x[c] - m) * (x[c] - m);
        const float r = 1.0F / std::sqrt(squares / static_cast<float>(C) + kLayernormEpsilon);
#pragma omp simd
        for (std::int64_t c = 0; c < C; ++c)
            store(y[c], (x[c] - m) * r * gain[c] + bias[c]);
        mean[n] = m;
        rstd[n] = r;
    }
}

RS_SIMD_CLONES void forwardRows(float* y, float* mean, float* rstd, const float* x, const float* gain,
    const float* bias, std::int64_t N, std::int64_t C)
{
    forwardBody(y, mean, rstd, x, gain, bias, N, C);
}
RS_SIMD_CLONES void forwardRows(Bf16* y, float* mean, float* rstd, const float* x, const float* gain, const float* bias,
    std::int64_t N, std::int64_t C)
{
    forwardBody(y, mean, rstd, x, gain, bias, N, C);
}

RS_SIMD_CLONES void backwardRows(float* dx, float* dgain, float* dbias, const float* dy, const float* x,
    const float* mean, const float* rstd, const float* gain, std::int64_t N, std::int64_t C)
{
    for (std::int64_t n = 0; n < N; ++n, dx += C, dy += C, x += C) {
        const float m = mean[n], r = rstd[n];
        float sum = 0, weighted = 0; // of g = dy gain, and of g xhat
#pragma omp simd reduction(+ : sum, weighted)
        for (std::int64_t c = 0; c < C; ++c) {
            const float xhat = (x[c] - m) * r;
            const float g = dy[c] * gain[c];
            sum += g;
            weighted += g * xhat;
            dgain[c] += dy[c] * xhat;
            dbias[c] += dy[c];
        }
        sum /= static_cast<float>(C);
        weighted /= static_cast<float>(C);
#pragma omp simd
        for (std::int64_t c = 0; c < C; ++c)
            dx[c] += r * (dy[c] * gain[c] - sum - (x[c] - m) * r * weighted);
    }
}

template <typename Out>
void forwardParts(Out* y, float* mean, float* rstd, const float* x, const float* gain, const float* bias,
    std::int64_t N, std::int64_t C)
{
    parallelRanges(N, kElementGrain / C + 1, [=](std::int64_t begin, std::int64_t end, int) {
        forwardRows(y + begin * C, mean + begin, rstd + begin, x + begin * C, gain, bias, end - begin, C);
    });
}

} // namespace

void layernormForward(float* y, float* mean, float* rstd, const float* x, const float* gain, const float* bias,
    std::int64_t N, std::int64_t C)
{
    forwardParts(y, mean, rstd, x, gain, bias, N, C);
}

void layernormForward(Bf16* y, float* mean, float* rstd, const float* x, const float* gain, const float* bias,
    std::int64_t N, std::int64_t C)
{
    forwardParts(y, mean, rstd, x, gain, bias, N, C);
}

void layernormBackward(float* dx, float* dgain, float* dbias, const float* dy, const float* x, const float* mean,
    const float* rstd, const float* gain, std::int64_t N, std::int64_t C)
{
    // Each thread sums its rows' part of the parameter gradients; added up in the order of the threads, so always
    // alike.
    thread_local std::vector<float> partial;
    const int parts = omp_get_max_threads();
    partial.assign(static_cast<std::size_t>(parts * 2 * C), 0.0F);
    float* sums = partial.data();
    parallelRanges(N, kElementGrain / C + 1, [=](std::int64_t begin, std::int64_t end, int part) {
        float* own = sums + part * 2 * C;
        backwardRows(dx + begin * C, own, own + C, dy + begin * C, x + begin * C, mean + begin, rstd + begin, gain,
            end - begin, C);
    });
    for (int part = 0; part < parts; ++part) {
        const float* own = sums + part * 2 * C;
        for (std::int64_t c = 0; c < C; ++c) {
            dgain[c] += own[c];
            dbias[c] += own[C + c];
        }
    }
}

} // namespace rankscope::kernels::cpu
