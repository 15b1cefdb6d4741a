#pragma once

#include "kernels/bf16.h"
#include "kernels/cost.h"

#include <cstdint>

namespace rankscope::kernels {

/// Row-major matrices with a leading dimension (floats from row to row), as in BLAS.
struct MatmulShape {
    std::int64_t M = 0, N = 0, K = 0;
    bool transposeA = false; ///< a is stored (K, M)
    bool transposeB = false; ///< b is stored (N, K)
    std::int64_t lda = 0, ldb = 0, ldc = 0; ///< 0: rows lie without a gap
    bool accumulate = false; ///< add to c instead of overwriting it

    std::int64_t rowA() const { return lda ? lda : (transposeA ? M : K); }
    std::int64_t rowB() const { return ldb ? ldb : (transposeB ? K : N); }
    std::int64_t rowC() const { return ldc ? ldc : N; }

    /// Written out: a defaulted one needs C++20, and kernels are also compiled by nvcc as C++17.
    bool operator==(const MatmulShape& other) const
    {
        return M == other.M && N == other.N && K == other.K && transposeA == other.transposeA
            && transposeB == other.transposeB && lda == other.lda && ldb == other.ldb && ldc == other.ldc
            && accumulate == other.accumulate;
    }
};

/// 2 M N K, the textbook count (Golub and Van Loan, 1.1.15); the bias is not counted. `inputBytes` is an element's of a
/// and b.
inline KernelCost matmulCost(const MatmulShape& s, int inputBytes = 4)
{
    const double m = static_cast<double>(s.M), n = static_cast<double>(s.N), k = static_cast<double>(s.K);
    return { 2 * m * n * k, inputBytes * (m * k + k * n) + 4 * m * n * (s.accumulate ? 2 : 1) };
}

namespace cpu {
/// c (M, N) = a (M, K) times b (K, N), plus bias (N) on each row if not null, plus c itself if shape.accumulate.
/// c overlaps neither a nor b. The three uses of a linear layer y = x W + b with W (I, O) and N rows:
/// y: {N, O, I}; dx = dy W^T: {N, I, O, transposeB}; dW += x^T dy: {I, O, N, transposeA, accumulate}.
void matmul(float* c, const float* a, const float* b, const float* bias, const MatmulShape& shape);
/// The same with products of rounded numbers, summed in fp32.
void matmul(float* c, const Bf16* a, const Bf16* b, const float* bias, const MatmulShape& shape);
} // namespace cpu
namespace reference {
template <typename Real> void matmul(Real* c, const Real* a, const Real* b, const Real* bias, const MatmulShape& shape);
}

} // namespace rankscope::kernels
