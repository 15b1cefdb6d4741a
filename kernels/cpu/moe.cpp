#include "kernels/moe.h"

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"

#include <algorithm>
#include <vector>

namespace rankscope::kernels::cpu {

namespace {

void softmaxRow(float* y, const float* x, std::int64_t n)
{
    const float greatest = *std::max_element(x, x + n);
    float sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        y[i] = fastExp(x[i] - greatest);
        sum += y[i];
    }
    for (std::int64_t i = 0; i < n; ++i)
        y[i] /= sum;
}

/// K is small: a pass a choice. A row that is not a number chooses the first ones.
void chooseRow(std::int32_t* chosen, const float* p, const RouteShape& s)
{
    for (std::int64_t k = 0; k < s.K; ++k) {
        std::int32_t best = -1;
        for (std::int32_t e = 0; e < s.E; ++e) {
            const bool isTaken = std::find(chosen, chosen + k, e) != chosen + k;
            if (!isTaken && (best < 0 || p[e] > p[best]))
                best = e;
        }
        chosen[k] = best;
    }
}

std::vector<float> shareOfChoices(const std::int32_t* chosen, const RouteShape& s)
{
    std::vector<float> shares(static_cast<std::size_t>(s.E));
    for (std::int64_t i = 0; i < s.N * s.K; ++i)
        shares[static_cast<std::size_t>(chosen[i])] += 1.0F;
    for (float& share : shares)
        share *= static_cast<float>(s.E) / static_cast<float>(s.K * s.N);
    return shares;
}

std::int64_t rowGrain(std::int64_t C) { return kElementGrain / std::max<std::int64_t>(1, C) + 1; }

} // namespace

void routeForward(float* probabilities, std::int32_t* chosen, const float* logits, const RouteShape& s)
{
    parallelRanges(s.N, rowGrain(s.E * (3 + s.K)), [=](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t row = begin; row < end; ++row) {
            softmaxRow(probabilities + row * s.E, logits + row * s.E, s.E);
            chooseRow(chosen + row * s.K, probabilities + row * s.E, s);
        }
    });
}

void routeBackward(float* dlogits, const float* dprobabilities, const float* probabilities, const RouteShape& s)
{
    parallelRanges(s.N, rowGrain(s.E), [=](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t row = begin; row < end; ++row) {
            const float* p = probabilities + row * s.E;
            const float* dp = dprobabilities + row * s.E;
            float mean = 0;
            for (std::int64_t e = 0; e < s.E; ++e)
                mean += p[e] * dp[e];
            for (std::int64_t e = 0; e < s.E; ++e)
                dlogits[row * s.E + e] = p[e] * (dp[e] - mean);
        }
    });
}

double balanceLoss(const float* probabilities, const std::int32_t* chosen, const RouteShape& s)
{
    const std::vector<float> shares = shareOfChoices(chosen, s);
    double sum = 0;
    for (std::int64_t i = 0; i < s.N * s.E; ++i)
        sum += static_cast<double>(shares[static_cast<std::size_t>(i % s.E)]) * static_cast<double>(probabilities[i]);
    return sum / static_cast<double>(s.N);
}

void balanceBackward(float* dprobabilities, const std::int32_t* chosen, float scale, const RouteShape& s)
{
    const std::vector<float> shares = shareOfChoices(chosen, s);
    for (std::int64_t row = 0; row < s.N; ++row) {
        for (std::int64_t e = 0; e < s.E; ++e)
            dprobabilities[row * s.E + e] += scale * shares[static_cast<std::size_t>(e)];
    }
}

void takeRows(float* y, const float* x, const std::int32_t* rows, std::int64_t M, std::int64_t C)
{
    parallelRanges(M, rowGrain(C), [=](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i)
            std::copy_n(x + rows[i] * C, C, y + i * C);
    });
}

void addRows(float* y, const float* x, const std::int32_t* rows, const float* gates, std::int64_t M, std::int64_t C)
{
    // Threads divide the columns: two of them never add to the same cell, and the order of the sum is that of the rows.
    parallelRanges(C, kElementGrain / std::max<std::int64_t>(1, M) + 1, [=](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = 0; i < M; ++i) {
            const float gate = gates ? gates[i] : 1.0F;
            float* to = y + rows[i] * C;
            const float* from = x + i * C;
#pragma omp simd
            for (std::int64_t c = begin; c < end; ++c)
                to[c] += gate * from[c];
        }
    });
}

void addRowsBackward(float* dx, float* dgates, const float* dy, const float* x, const std::int32_t* rows,
    const float* gates, std::int64_t M, std::int64_t C)
{
    parallelRanges(M, rowGrain(C), [=](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) {
            const float* from = dy + rows[i] * C;
            float gate = 0;
#pragma omp simd reduction(+ : gate)
            for (std::int64_t c = 0; c < C; ++c)
                gate += from[c] * x[i * C + c];
            dgates[i] = gate;
#pragma omp simd
            for (std::int64_t c = 0; c < C; ++c)
                dx[i * C + c] = gates[i] * from[c];
        }
    });
}

} // namespace rankscope::kernels::cpu
