#include "kernels/gradient_norm.h"

namespace rankscope::kernels::reference {

template <typename Real> double squaredNorm(const Real* x, std::int64_t n)
{
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
        sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    return sum;
}

template double squaredNorm(const float*, std::int64_t);
template double squaredNorm(const double*, std::int64_t);

} // namespace rankscope::kernels::reference
