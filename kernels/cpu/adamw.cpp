#include "kernels/adamw.h"

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"

#include <cmath>

namespace rankscope::kernels::cpu {

namespace {

// The settings with the bias corrections folded in.
struct Factors {
    float scale, beta1, beta2, rate, correction2, epsilon, decay;
};

RS_SIMD_CLONES void updateRange(
    float* values, float* moment1, float* moment2, const float* gradients, std::int64_t n, const Factors& factors)
{
    const Factors f = factors;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
        const float g = gradients[i] * f.scale;
        const float m = f.beta1 * moment1[i] + (1.0F - f.beta1) * g;
        const float v = f.beta2 * moment2[i] + (1.0F - f.beta2) * g * g;
        const float root = std::sqrt(v * f.correction2) + f.epsilon;
        values[i] = values[i] * f.decay - f.rate * m / root;
        moment1[i] = m;
        moment2[i] = v;
    }
}

} // namespace

void adamwStep(float* values, float* moment1, float* moment2, const float* gradients, std::int64_t n,
    const AdamwSettings& settings)
{
    const double lr = settings.learningRate, step = static_cast<double>(settings.step);
    const Factors factors{ .scale = settings.gradientScale,
        .beta1 = settings.beta1,
        .beta2 = settings.beta2,
        .rate = static_cast<float>(lr / (1 - std::pow(static_cast<double>(settings.beta1), step))),
        .correction2 = static_cast<float>(1 / (1 - std::pow(static_cast<double>(settings.beta2), step))),
        .epsilon = settings.epsilon,
        .decay = static_cast<float>(1 - lr * static_cast<double>(settings.weightDecay)) };
    parallelRanges(n, kElementGrain, [=](std::int64_t begin, std::int64_t end, int) {
        updateRange(values + begin, moment1 + begin, moment2 + begin, gradients + begin, end - begin, factors);
    });
}

} // namespace rankscope::kernels::cpu
