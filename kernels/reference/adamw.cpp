#include "kernels/adamw.h"

#include <cmath>

namespace rankscope::kernels::reference {

template <typename Real>
void adamwStep(
    Real* values, Real* moment1, Real* moment2, const Real* gradients, std::int64_t n, const AdamwSettings& settings)
{
    const double lr = settings.learningRate, b1 = settings.beta1, b2 = settings.beta2;
    const double correction1 = 1 - std::pow(b1, static_cast<double>(settings.step));
    const double correction2 = 1 - std::pow(b2, static_cast<double>(settings.step));
    for (std::int64_t i = 0; i < n; ++i) {
        const double g = static_cast<double>(gradients[i]) * static_cast<double>(settings.gradientScale);
        const double m = b1 * static_cast<double>(moment1[i]) + (1 - b1) * g;
        const double v = b2 * static_cast<double>(moment2[i]) + (1 - b2) * g * g;
        const double w = values[i];
        const double direction = m / correction1 / (std::sqrt(v / correction2) + static_cast<double>(settings.epsilon));
        values[i] = static_cast<Real>(w - lr * (direction + static_cast<double>(settings.weightDecay) * w));
        moment1[i] = static_cast<Real>(m);
        moment2[i] = static_cast<Real>(v);
    }
}

template void adamwStep(float*, float*, float*, const float*, std::int64_t, const AdamwSettings&);
template void adamwStep(double*, double*, double*, const double*, std::int64_t, const AdamwSettings&);

} // namespace rankscope::kernels::reference
