#include "kernels/softmax_cross_entropy.h"

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"

#include <cmath>

namespace rankscope::kernels::cpu {

namespace {

bool isHere(std::int32_t target, std::int64_t V) { return target >= 0 && target < V; }

RS_SIMD_CLONES void forwardRows(
    float* losses, float* logSumExp, const float* logits, const std::int32_t* targets, std::int64_t N, std::int64_t V)
{
    for (std::int64_t n = 0; n < N; ++n, logits += V) {
        float highest = logits[0], sum = 0;
#pragma omp simd reduction(max : highest)
        for (std::int64_t v = 0; v < V; ++v)
            highest = logits[v] > highest ? logits[v] : highest;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t v = 0; v < V; ++v)
            sum += fastExp(logits[v] - highest);
        logSumExp[n] = highest + std::log(sum);
        losses[n] = logSumExp[n] - (isHere(targets[n], V) ? logits[targets[n]] : 0);
    }
}

template <typename Out>
RS_SIMD_BODY void backwardBody(Out* dlogits, const float* logits, const float* logSumExp, const std::int32_t* targets,
    float scale, std::int64_t N, std::int64_t V)
{
    for (std::int64_t n = 0; n < N; ++n, logits += V, dlogits += V) {
        const float lse = logSumExp[n];
        const bool here = isHere(targets[n], V);
        const float atTarget = here ? scale * fastExp(logits[targets[n]] - lse) - scale : 0; // dlogits may be logits
#pragma omp simd
        for (std::int64_t v = 0; v < V; ++v)
            store(dlogits[v], scale * fastExp(logits[v] - lse));
        if (here)
            store(dlogits[targets[n]], atTarget);
    }
}

RS_SIMD_CLONES void backwardRows(float* dlogits, const float* logits, const float* logSumExp,
    const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V)
{
    backwardBody(dlogits, logits, logSumExp, targets, scale, N, V);
}
RS_SIMD_CLONES void backwardRows(Bf16* dlogits, const float* logits, const float* logSumExp,
    const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V)
{
    backwardBody(dlogits, logits, logSumExp, targets, scale, N, V);
}

template <typename Out>
void backwardParts(Out* dlogits, const float* logits, const float* logSumExp, const std::int32_t* targets, float scale,
    std::int64_t N, std::int64_t V)
{
    parallelRanges(N, kElementGrain / V + 1, [=](std::int64_t begin, std::int64_t end, int) {
        backwardRows(
            dlogits + begin * V, logits + begin * V, logSumExp + begin, targets + begin, scale, end - begin, V);
    });
}

} // namespace

void softmaxCrossEntropyForward(
    float* losses, float* logSumExp, const float* logits, const std::int32_t* targets, std::int64_t N, std::int64_t V)
{
    parallelRanges(N, kElementGrain / V + 1, [=](std::int64_t begin, std::int64_t end, int) {
        forwardRows(losses + begin, logSumExp + begin, logits + begin * V, targets + begin, end - begin, V);
    });
}

void softmaxCrossEntropyBackward(float* dlogits, const float* logits, const float* logSumExp,
    const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V)
{
    backwardParts(dlogits, logits, logSumExp, targets, scale, N, V);
}

void softmaxCrossEntropyBackward(Bf16* dlogits, const float* logits, const float* logSumExp,
    const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V)
{
    backwardParts(dlogits, logits, logSumExp, targets, scale, N, V);
}

} // namespace rankscope::kernels::cpu
