#include "kernels/gelu.h"

#include <cmath>
#include <numbers>

namespace rankscope::kernels::reference {

namespace {
const double kRoot = std::sqrt(2 / std::numbers::pi);
constexpr double kCubic = 0.044715;
} // namespace

template <typename Real> void geluForward(Real* y, const Real* x, std::int64_t n)
{
    for (std::int64_t i = 0; i < n; ++i) {
        const double v = x[i];
        y[i] = static_cast<Real>(0.5 * v * (1 + std::tanh(kRoot * (v + kCubic * v * v * v))));
    }
}

template <typename Real> void geluBackward(Real* dx, const Real* dy, const Real* x, std::int64_t n)
{
    for (std::int64_t i = 0; i < n; ++i) {
        const double v = x[i];
        const double t = std::tanh(kRoot * (v + kCubic * v * v * v));
        const double derivative = 0.5 * (1 + t) + 0.5 * v * (1 - t * t) * kRoot * (1 + 3 * kCubic * v * v);
        dx[i] = static_cast<Real>(static_cast<double>(dy[i]) * derivative);
    }
}

template void geluForward(float*, const float*, std::int64_t);
template void geluForward(double*, const double*, std::int64_t);
template void geluBackward(float*, const float*, const float*, std::int64_t);
template void geluBackward(double*, const double*, const double*, std::int64_t);

} // namespace rankscope::kernels::reference
