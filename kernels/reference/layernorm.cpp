#include "kernels/layernorm.h"

#include <cmath>

namespace rankscope::kernels::reference {

template <typename Real>
void layernormForward(
    Real* y, Real* mean, Real* rstd, const Real* x, const Real* gain, const Real* bias, std::int64_t N, std::int64_t C)
{
    for (std::int64_t n = 0; n < N; ++n) {
        const Real* row = x + n * C;
        double sum = 0, squares = 0;
        for (std::int64_t c = 0; c < C; ++c)
            sum += static_cast<double>(row[c]);
        const double m = sum / static_cast<double>(C);
        for (std::int64_t c = 0; c < C; ++c)
            squares += (static_cast<double>(row[c]) - m) * (static_cast<double>(row[c]) - m);
        const double r = 1 / std::sqrt(squares / static_cast<double>(C) + static_cast<double>(kLayernormEpsilon));
        for (std::int64_t c = 0; c < C; ++c)
            y[n * C + c] = static_cast<Real>(
                (static_cast<double>(row[c]) - m) * r * static_cast<double>(gain[c]) + static_cast<double>(bias[c]));
        mean[n] = static_cast<Real>(m);
        rstd[n] = static_cast<Real>(r);
    }
}

template <typename Real>
void layernormBackward(Real* dx, Real* dgain, Real* dbias, const Real* dy, const Real* x, const Real* mean,
    const Real* rstd, const Real* gain, std::int64_t N, std::int64_t C)
{
    for (std::int64_t n = 0; n < N; ++n) {
        const double m = mean[n], r = rstd[n];
        double sum = 0, weighted = 0; // of g = dy gain, and of g xhat
        for (std::int64_t c = 0; c < C; ++c) {
            const double g = static_cast<double>(dy[n * C + c]) * static_cast<double>(gain[c]);
            sum += g;
            weighted += g * (static_cast<double>(x[n * C + c]) - m) * r;
        }
        sum /= static_cast<double>(C);
        weighted /= static_cast<double>(C);
        for (std::int64_t c = 0; c < C; ++c) {
            const double xhat = (static_cast<double>(x[n * C + c]) - m) * r;
            const double g = static_cast<double>(dy[n * C + c]) * static_cast<double>(gain[c]);
            dx[n * C + c] = static_cast<Real>(static_cast<double>(dx[n * C + c]) + r * (g - sum - xhat * weighted));
        }
    }
    for (std::int64_t c = 0; c < C; ++c) {
        double gainSum = 0, biasSum = 0;
        for (std::int64_t n = 0; n < N; ++n) {
            const double g = dy[n * C + c];
            gainSum += g * (static_cast<double>(x[n * C + c]) - static_cast<double>(mean[n]))
                * static_cast<double>(rstd[n]);
            biasSum += g;
        }
        dgain[c] = static_cast<Real>(static_cast<double>(dgain[c]) + gainSum);
        dbias[c] = static_cast<Real>(static_cast<double>(dbias[c]) + biasSum);
    }
}

template void layernormForward(
    float*, float*, float*, const float*, const float*, const float*, std::int64_t, std::int64_t);
template void layernormForward(
    double*, double*, double*, const double*, const double*, const double*, std::int64_t, std::int64_t);
template void layernormBackward(float*, float*, float*, const float*, const float*, const float*, const float*,
    const float*, std::int64_t, std::int64_t);
template void layernormBackward(double*, double*, double*, const double*, const double*, const double*, const double*,
    const double*, std::int64_t, std::int64_t);

} // namespace rankscope::kernels::reference
