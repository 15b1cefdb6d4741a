#include "kernels/matmul.h"

namespace rankscope::kernels::reference {

template <typename Real> void matmul(Real* c, const Real* a, const Real* b, const Real* bias, const MatmulShape& s)
{
    for (std::int64_t m = 0; m < s.M; ++m) {
        for (std::int64_t n = 0; n < s.N; ++n) {
            double sum = bias ? static_cast<double>(bias[n]) : 0;
            for (std::int64_t k = 0; k < s.K; ++k) {
                const double x = a[s.transposeA ? k * s.rowA() + m : m * s.rowA() + k];
                const double y = b[s.transposeB ? n * s.rowB() + k : k * s.rowB() + n];
                sum += x * y;
            }
            Real& out = c[m * s.rowC() + n];
            out = static_cast<Real>(s.accumulate ? static_cast<double>(out) + sum : sum);
        }
    }
}

template void matmul(float*, const float*, const float*, const float*, const MatmulShape&);
template void matmul(double*, const double*, const double*, const double*, const MatmulShape&);

} // namespace rankscope::kernels::reference
