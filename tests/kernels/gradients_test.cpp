#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/gelu.h"
#include "kernels/layernorm.h"
#include "kernels/matmul.h"
#include "kernels/softmax_cross_entropy.h"

#include "tests/kernels/finite_difference.h"
#include "tests/kernels/random_values.h"

// Each backward op against central differences of its forward op, on the double reference, which in turn judges the
// rest.

namespace rankscope::kernels {

using test::expectGradient;
using test::randomValues;
using test::weightedSum;
using Doubles = std::vector<double>;

TEST(Gradient, OfALinearLayerIsTwoMatrixProducts)
{
    constexpr std::int64_t N = 3, I = 4, O = 2;
    auto x = randomValues<double>(N * I, 1), w = randomValues<double>(I * O, 2), b = randomValues<double>(O, 3);
    const auto dy = randomValues<double>(N * O, 4);
    Doubles y(N * O), dx(N * I), dw(I * O), db(O);
    const auto loss = [&] {
        reference::matmul(y.data(), x.data(), w.data(), b.data(), { .M = N, .N = O, .K = I });
        return weightedSum(y, dy);
    };
    const double* none = nullptr;
    reference::matmul(dx.data(), dy.data(), w.data(), none, { .M = N, .N = I, .K = O, .transposeB = true });
    reference::matmul(
        dw.data(), x.data(), dy.data(), none, { .M = I, .N = O, .K = N, .transposeA = true, .accumulate = true });
    reference::biasBackward(db.data(), dy.data(), N, O);
    expectGradient(x, dx, loss);
    expectGradient(w, dw, loss);
    expectGradient(b, db, loss);
}

TEST(Gradient, OfGelu)
{
    Doubles x{ -3, -1, -0.1, 0, 0.2, 1.5, 4 };
    const auto dy = randomValues<double>(7, 1);
    Doubles y(7), dx(7);
    reference::geluBackward(dx.data(), dy.data(), x.data(), 7);
    expectGradient(x, dx, [&] {
        reference::geluForward(y.data(), x.data(), 7);
        return weightedSum(y, dy);
    });
}

TEST(Gradient, OfLayernormReachesInputGainAndBias)
{
    constexpr std::int64_t N = 3, C = 5;
    auto x = randomValues<double>(N * C, 1), gain = randomValues<double>(C, 2), bias = randomValues<double>(C, 3);
    const auto dy = randomValues<double>(N * C, 4);
    Doubles y(N * C), mean(N), rstd(N), dx(N * C), dgain(C), dbias(C);
    const auto loss = [&] {
        reference::layernormForward(y.data(), mean.data(), rstd.data(), x.data(), gain.data(), bias.data(), N, C);
        return weightedSum(y, dy);
    };
    loss();
    reference::layernormBackward(
        dx.data(), dgain.data(), dbias.data(), dy.data(), x.data(), mean.data(), rstd.data(), gain.data(), N, C);
    expectGradient(x, dx, loss);
    expectGradient(gain, dgain, loss);
    expectGradient(bias, dbias, loss);
}

TEST(Gradient, OfSoftmaxCrossEntropyIsScaledProbabilityLessOneHot)
{
    constexpr std::int64_t N = 3, V = 5;
    auto logits = randomValues<double>(N * V, 1);
    const std::vector<std::int32_t> targets{ 4, 0, 2 };
    Doubles losses(N), lse(N), gradient(N * V);
    const auto loss = [&] {
        reference::softmaxCrossEntropyForward(losses.data(), lse.data(), logits.data(), targets.data(), N, V);
        return 0.25 * (losses[0] + losses[1] + losses[2]);
    };
    loss();
    reference::softmaxCrossEntropyBackward(gradient.data(), logits.data(), lse.data(), targets.data(), 0.25, N, V);
    expectGradient(logits, gradient, loss);
}

TEST(Gradient, OfEmbeddingSumsOverRepeatedTokensAndSequences)
{
    const EmbeddingShape shape{ .B = 2, .T = 3, .C = 2 };
    const std::vector<std::int32_t> tokens{ 1, 0, 1, 1, 3, 0 };
    auto table = randomValues<double>(8, 1), positions = randomValues<double>(6, 2);
    const auto dy = randomValues<double>(12, 3);
    Doubles y(12), dtable(8), dpositions(6);
    reference::embeddingBackward(dtable.data(), dpositions.data(), dy.data(), tokens.data(), shape);
    const auto loss = [&] {
        reference::embeddingForward(y.data(), tokens.data(), table.data(), positions.data(), shape);
        return weightedSum(y, dy);
    };
    expectGradient(table, dtable, loss);
    expectGradient(positions, dpositions, loss);
}

} // namespace rankscope::kernels
