#include "kernels/embedding.h"

namespace rankscope::kernels::reference {

template <typename Real>
void embeddingForward(
    Real* y, const std::int32_t* tokens, const Real* table, const Real* positions, const EmbeddingShape& s)
{
    for (std::int64_t row = 0; row < s.B * s.T; ++row)
        for (std::int64_t c = 0; c < s.C; ++c)
            y[row * s.C + c] = static_cast<Real>(static_cast<double>(table[tokens[row] * s.C + c])
                + static_cast<double>(positions[row % s.T * s.C + c]));
}

template <typename Real>
void embeddingBackward(
    Real* dtable, Real* dpositions, const Real* dy, const std::int32_t* tokens, const EmbeddingShape& s)
{
    for (std::int64_t row = 0; row < s.B * s.T; ++row) {
        for (std::int64_t c = 0; c < s.C; ++c) {
            dtable[tokens[row] * s.C + c] += dy[row * s.C + c];
            dpositions[row % s.T * s.C + c] += dy[row * s.C + c];
        }
    }
}

template void embeddingForward(float*, const std::int32_t*, const float*, const float*, const EmbeddingShape&);
template void embeddingForward(double*, const std::int32_t*, const double*, const double*, const EmbeddingShape&);
template void embeddingBackward(float*, float*, const float*, const std::int32_t*, const EmbeddingShape&);
template void embeddingBackward(double*, double*, const double*, const std::int32_t*, const EmbeddingShape&);

} // namespace rankscope::kernels::reference
