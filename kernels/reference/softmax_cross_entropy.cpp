#include "kernels/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>

namespace rankscope::kernels::reference {

namespace {
bool isHere(std::int32_t target, std::int64_t V) { return target >= 0 && target < V; }
} // namespace

template <typename Real>
void softmaxCrossEntropyForward(
    Real* losses, Real* logSumExp, const Real* logits, const std::int32_t* targets, std::int64_t N, std::int64_t V)
{
    for (std::int64_t n = 0; n < N; ++n) {
        const Real* row = logits + n * V;
        const double highest = *std::max_element(row, row + V);
        double sum = 0;
        for (std::int64_t v = 0; v < V; ++v)
            sum += std::exp(static_cast<double>(row[v]) - highest);
        const double lse = highest + std::log(sum);
        logSumExp[n] = static_cast<Real>(lse);
        losses[n] = static_cast<Real>(lse - (isHere(targets[n], V) ? static_cast<double>(row[targets[n]]) : 0));
    }
}

template <typename Real>
void softmaxCrossEntropyBackward(Real* dlogits, const Real* logits, const Real* logSumExp, const std::int32_t* targets,
    Real scale, std::int64_t N, std::int64_t V)
{
    for (std::int64_t n = 0; n < N; ++n) {
        for (std::int64_t v = 0; v < V; ++v) {
            const double p = std::exp(static_cast<double>(logits[n * V + v]) - static_cast<double>(logSumExp[n]));
            dlogits[n * V + v] = static_cast<Real>(static_cast<double>(scale) * (p - (v == targets[n] ? 1 : 0)));
        }
    }
}

template void softmaxCrossEntropyForward(float*, float*, const float*, const std::int32_t*, std::int64_t, std::int64_t);
template void softmaxCrossEntropyForward(
    double*, double*, const double*, const std::int32_t*, std::int64_t, std::int64_t);
template void softmaxCrossEntropyBackward(
    float*, const float*, const float*, const std::int32_t*, float, std::int64_t, std::int64_t);
template void softmaxCrossEntropyBackward(
    double*, const double*, const double*, const std::int32_t*, double, std::int64_t, std::int64_t);

} // namespace rankscope::kernels::reference
