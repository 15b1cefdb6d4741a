#include "kernels/cpu/attention_tile.h"

#include "kernels/matmul.h"
#include "tests/kernels/random_values.h"

namespace rankscope::kernels {

namespace {

using Multiply = void (*)(const cpu::TileProduct&);

// c (M, N) of the tile against the reference, all three with rows longer than needed.
void expectProduct(Multiply multiply, std::int64_t M, std::int64_t N, std::int64_t K, bool transposed, bool accumulate)
{
    const std::int64_t rowA = (transposed ? M : K) + 3, rowB = N + 5, rowC = N + 7;
    const auto a = test::randomValues<float>((transposed ? K : M) * rowA, 1);
    const auto b = test::randomValues<float>(K * rowB, 2);
    auto c = test::randomValues<float>(M * rowC, 3), judge = c;
    multiply({ c.data(), rowC, a.data(), transposed ? 1 : rowA, transposed ? rowA : 1, b.data(), rowB, M, N, K,
        accumulate });
    reference::matmul<float>(judge.data(), a.data(), b.data(), nullptr,
        { .M = M,
            .N = N,
            .K = K,
            .transposeA = transposed,
            .lda = rowA,
            .ldb = rowB,
            .ldc = rowC,
            .accumulate = accumulate });
    test::expectClose(c, judge, 1e-5); // the gaps between the rows of c included: nobody may write there
}

void expectEveryForm(Multiply multiply)
{
    // Widths of 7, 3 and 1 vectors of 16, so that each strip is used.
    for (const std::int64_t N : { 112, 48, 16 })
        for (const bool transposed : { false, true })
            for (const bool accumulate : { false, true })
                expectProduct(multiply, 12, N, 37, transposed, accumulate);
}

} // namespace

TEST(AttentionTile, AgreesWithTheReferenceInEveryForm) { expectEveryForm(cpu::multiplyTile); }

TEST(AttentionTile, AgreesWithTheReferenceWithoutAvx512) { expectEveryForm(cpu::multiplyTileNarrow); }

} // namespace rankscope::kernels
