#include "kernels/embedding.h"

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"

namespace rankscope::kernels::cpu {

void embeddingForward(
    float* y, const std::int32_t* tokens, const float* table, const float* positions, const EmbeddingShape& s)
{
    const std::int64_t T = s.T, C = s.C;
    parallelRanges(s.B * T, kElementGrain / C + 1, [=](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t row = begin; row < end; ++row) {
            const float* token = table + tokens[row] * C;
            const float* position = positions + row % T * C;
#pragma omp simd
            for (std::int64_t c = 0; c < C; ++c)
                y[row * C + c] = token[c] + position[c];
        }
    });
}

void embeddingBackward(
    float* dtable, float* dpositions, const float* dy, const std::int32_t* tokens, const EmbeddingShape& s)
{
    // Threads divide the columns: two of them never add to the same cell, and the order of the sum is that of the rows.
    const std::int64_t rows = s.B * s.T, T = s.T, C = s.C;
    parallelRanges(C, kElementGrain / rows + 1, [=](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t row = 0; row < rows; ++row) {
            const float* gradient = dy + row * C;
            float* token = dtable + tokens[row] * C;
            float* position = dpositions + row % T * C;
#pragma omp simd
            for (std::int64_t c = begin; c < end; ++c) {
                token[c] += gradient[c];
                position[c] += gradient[c];
            }
        }
    });
}

} // namespace rankscope::kernels::cpu
