#include "kernels/elementwise.h"

#include <algorithm>

namespace rankscope::kernels::reference {

template <typename Real> void clear(Real* x, std::int64_t n) { std::fill_n(x, n, Real{ 0 }); }

template <typename Real> void copy(Real* y, const Real* x, std::int64_t n) { std::copy_n(x, n, y); }

template <typename Real> void add(Real* y, const Real* x, std::int64_t n)
{
    for (std::int64_t i = 0; i < n; ++i)
        y[i] += x[i];
}

template <typename Real> void scale(Real* x, Real factor, std::int64_t n)
{
    for (std::int64_t i = 0; i < n; ++i)
        x[i] *= factor;
}

template <typename Real> void biasBackward(Real* dbias, const Real* dy, std::int64_t N, std::int64_t C)
{
    for (std::int64_t c = 0; c < C; ++c) {
        double sum = dbias[c];
        for (std::int64_t n = 0; n < N; ++n)
            sum += static_cast<double>(dy[n * C + c]);
        dbias[c] = static_cast<Real>(sum);
    }
}

template void clear(float*, std::int64_t);
template void clear(double*, std::int64_t);
template void copy(float*, const float*, std::int64_t);
template void copy(double*, const double*, std::int64_t);
template void add(float*, const float*, std::int64_t);
template void add(double*, const double*, std::int64_t);
template void scale(float*, float, std::int64_t);
template void scale(double*, double, std::int64_t);
template void biasBackward(float*, const float*, std::int64_t, std::int64_t);
template void biasBackward(double*, const double*, std::int64_t, std::int64_t);

} // namespace rankscope::kernels::reference
