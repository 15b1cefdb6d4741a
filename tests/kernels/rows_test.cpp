#include "kernels/cpu/simd.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/gelu.h"
#include "kernels/layernorm.h"
#include "kernels/softmax_cross_entropy.h"

#include "tests/kernels/random_values.h"

namespace rankscope::kernels {

using test::expectClose;
using test::randomTokens;
using test::randomValues;
using Values = std::vector<float>;

namespace {

// Small, odd, and large enough to be divided among threads.
struct Size {
    std::int64_t N, C;
};
const std::vector<Size> kSizes{ { 1, 1 }, { 7, 13 }, { 65, 33 }, { 301, 129 } };

Values zeros(std::int64_t n) { return Values(static_cast<std::size_t>(n)); }

std::vector<Bf16> halves(const Values& values) { return std::vector<Bf16>(values.size()); }

} // namespace

TEST(FastExp, IsWithinTwoTenMillionthsOverItsRange)
{
    double worst = 0;
    for (int i = -87000; i <= 88000; i += 5) {
        const float x = static_cast<float>(i) / 1000;
        const double exact = std::exp(static_cast<double>(x));
        worst = std::max(worst, std::abs(static_cast<double>(cpu::fastExp(x)) - exact) / exact);
    }
    EXPECT_LT(worst, 2e-7);
    EXPECT_EQ(cpu::fastExp(0), 1);
    EXPECT_EQ(cpu::fastExp(-1000), cpu::fastExp(-87)); // not 0, but nothing to a sum
}

TEST(FastExp, SpreadsWhatIsNotANumber)
{
    // A poisoned value must reach the loss, however it is vectorised: 37 lanes and a rest.
    Values x(37, 0.5F), y(37), loss(1), lse(1);
    x[20] = std::nanf("");
    cpu::geluForward(y.data(), x.data(), 37);
    EXPECT_TRUE(std::isnan(y[20]));
    EXPECT_FALSE(std::isnan(y[21]));
    const std::vector<std::int32_t> target{ 3 };
    cpu::softmaxCrossEntropyForward(loss.data(), lse.data(), x.data(), target.data(), 1, 37);
    EXPECT_TRUE(std::isnan(loss[0]));
}

TEST(Gelu, HandValues)
{
    // Hendrycks and Gimpel's tanh form: 0 at 0; at 1 0.5 (1 + tanh(0.7978846 * 1.044715)) = 0.8411920; -0.1588080 at
    // -1.
    const Values x{ 0, 1, -1, 100, -100 };
    Values y(5);
    const Values expected{ 0, 0.8411920F, -0.1588080F, 100, 0 };
    reference::geluForward(y.data(), x.data(), 5);
    expectClose(y, expected, 1e-6);
    cpu::geluForward(y.data(), x.data(), 5);
    expectClose(y, expected, 1e-6);
}

TEST(Gelu, CpuAgreesWithTheReferenceOverTheWholeRange)
{
    constexpr std::int64_t n = 40001;
    Values x, dy = randomValues<float>(n, 1), fast(n), judge(n);
    for (std::int64_t i = 0; i < n; ++i)
        x.push_back(static_cast<float>(i - n / 2) / 1000); // -20 to 20
    cpu::geluForward(fast.data(), x.data(), n);
    reference::geluForward(judge.data(), x.data(), n);
    expectClose(fast, judge, 1e-6);
    cpu::geluBackward(fast.data(), dy.data(), x.data(), n);
    reference::geluBackward(judge.data(), dy.data(), x.data(), n);
    expectClose(fast, judge, 1e-6);
}

TEST(Layernorm, HandValues)
{
    // (1, 3): mean 2, variance 1, so -1 and 1 (up to epsilon); gain (2, 3), bias (10, 20): 8 and 23.
    const Values x{ 1, 3 }, gain{ 2, 3 }, bias{ 10, 20 };
    Values y(2), mean(1), rstd(1);
    cpu::layernormForward(y.data(), mean.data(), rstd.data(), x.data(), gain.data(), bias.data(), 1, 2);
    expectClose(y, { 8, 23 }, 1e-5);
    expectClose(mean, { 2 }, 1e-6);
    expectClose(rstd, { 1 }, 1e-5);
}

TEST(Layernorm, CpuAgreesWithTheReferenceOnOddSizes)
{
    for (const auto [N, C] : kSizes) {
        const auto x = randomValues<float>(N * C, 1), dy = randomValues<float>(N * C, 2);
        const auto gain = randomValues<float>(C, 3), bias = randomValues<float>(C, 4);
        Values y = zeros(N * C), mean = zeros(N), rstd = zeros(N), y2 = y, mean2 = mean, rstd2 = rstd;
        cpu::layernormForward(y.data(), mean.data(), rstd.data(), x.data(), gain.data(), bias.data(), N, C);
        reference::layernormForward(y2.data(), mean2.data(), rstd2.data(), x.data(), gain.data(), bias.data(), N, C);
        expectClose(y, y2, 2e-6);
        expectClose(rstd, rstd2, 2e-6);
        if (C == 1)
            continue; // rstd is 316 for a row of one value: what remains is rounding times 316
        auto dx = randomValues<float>(N * C, 5), dgain = randomValues<float>(C, 6), dbias = randomValues<float>(C, 7);
        auto dx2 = dx, dgain2 = dgain, dbias2 = dbias;
        cpu::layernormBackward(
            dx.data(), dgain.data(), dbias.data(), dy.data(), x.data(), mean2.data(), rstd2.data(), gain.data(), N, C);
        reference::layernormBackward(dx2.data(), dgain2.data(), dbias2.data(), dy.data(), x.data(), mean2.data(),
            rstd2.data(), gain.data(), N, C);
        expectClose(dx, dx2, 5e-6);
        expectClose(dgain, dgain2, 1e-5);
        expectClose(dbias, dbias2, 1e-5);
    }
}

TEST(SoftmaxCrossEntropy, HandValues)
{
    // Logits (0, ln 3): probabilities 1/4 and 3/4. Target 0 costs ln 4; gradient times 2: (2 (1/4 - 1), 2 * 3/4).
    const Values logits{ 0, std::log(3.0F) };
    const std::vector<std::int32_t> target{ 0 };
    Values loss(1), lse(1), gradient(2);
    cpu::softmaxCrossEntropyForward(loss.data(), lse.data(), logits.data(), target.data(), 1, 2);
    expectClose(loss, { std::log(4.0F) }, 1e-6);
    cpu::softmaxCrossEntropyBackward(gradient.data(), logits.data(), lse.data(), target.data(), 2, 1, 2);
    expectClose(gradient, { -1.5F, 1.5F }, 1e-6);
}

TEST(SoftmaxCrossEntropy, CpuAgreesWithTheReferenceOnOddSizes)
{
    for (const auto [N, V] : kSizes) {
        auto logits = randomValues<float>(N * V, 1);
        for (float& logit : logits)
            logit *= 30;
        const auto targets = randomTokens(N, static_cast<std::int32_t>(V), 2);
        Values loss = zeros(N), lse = zeros(N), loss2 = loss, lse2 = lse, d = zeros(N * V), d2 = d;
        cpu::softmaxCrossEntropyForward(loss.data(), lse.data(), logits.data(), targets.data(), N, V);
        reference::softmaxCrossEntropyForward(loss2.data(), lse2.data(), logits.data(), targets.data(), N, V);
        expectClose(loss, loss2, 2e-6);
        expectClose(lse, lse2, 2e-6);
        cpu::softmaxCrossEntropyBackward(d.data(), logits.data(), lse2.data(), targets.data(), 0.5F, N, V);
        reference::softmaxCrossEntropyBackward(d2.data(), logits.data(), lse2.data(), targets.data(), 0.5F, N, V);
        expectClose(d, d2, 4e-6); // a log-sum-exp of 30 in fp32 is rounded to 2e-6
    }
}

TEST(Embedding, AddsTokenAndPositionRows)
{
    // Table rows (1 2) and (3 4), positions (10 20) and (30 40); tokens 1 0 over two positions.
    const Values table{ 1, 2, 3, 4 }, positions{ 10, 20, 30, 40 };
    const std::vector<std::int32_t> tokens{ 1, 0 };
    const EmbeddingShape shape{ .B = 1, .T = 2, .C = 2 };
    Values y(4);
    cpu::embeddingForward(y.data(), tokens.data(), table.data(), positions.data(), shape);
    EXPECT_EQ(y, (Values{ 13, 24, 31, 42 }));
}

TEST(Embedding, CpuAgreesWithTheReferenceWhereTokensRepeat)
{
    const EmbeddingShape shape{ .B = 5, .T = 37, .C = 131 };
    const std::int64_t n = 5 * 37 * 131;
    const auto tokens = randomTokens(5 * 37, 11, 1);
    const auto dy = randomValues<float>(n, 2), table = randomValues<float>(11 * 131, 3),
               positions = randomValues<float>(37 * 131, 4);
    Values y = zeros(n), y2 = y;
    cpu::embeddingForward(y.data(), tokens.data(), table.data(), positions.data(), shape);
    reference::embeddingForward(y2.data(), tokens.data(), table.data(), positions.data(), shape);
    EXPECT_EQ(y, y2);
    auto dtable = table, dtable2 = table, dpositions = positions, dpositions2 = positions;
    cpu::embeddingBackward(dtable.data(), dpositions.data(), dy.data(), tokens.data(), shape);
    reference::embeddingBackward(dtable2.data(), dpositions2.data(), dy.data(), tokens.data(), shape);
    EXPECT_EQ(dtable, dtable2); // the same sums in the same order
    EXPECT_EQ(dpositions, dpositions2);
}

TEST(Elementwise, AgreesWithTheReferenceOnOddSizes)
{
    for (const auto [N, C] : kSizes) {
        const auto x = randomValues<float>(N * C, 1);
        auto y = randomValues<float>(N * C, 2), y2 = y;
        cpu::add(y.data(), x.data(), N * C);
        reference::add(y2.data(), x.data(), N * C);
        EXPECT_EQ(y, y2);
        cpu::scale(y.data(), 0.3F, N * C);
        reference::scale(y2.data(), 0.3F, N * C);
        EXPECT_EQ(y, y2);
        auto bias = randomValues<float>(C, 3), bias2 = bias;
        cpu::biasBackward(bias.data(), x.data(), N, C);
        reference::biasBackward(bias2.data(), x.data(), N, C);
        expectClose(bias, bias2, 1e-5);
        cpu::copy(y.data(), x.data(), N * C);
        EXPECT_EQ(y, x);
        cpu::clear(y.data(), N * C);
        EXPECT_EQ(y, zeros(N * C));
    }
}

TEST(RoundedRows, AreWhatTheFullOnesRoundTo)
{
    using test::expectRounded;
    constexpr std::int64_t N = 301, C = 129;
    const auto x = randomValues<float>(N * C, 1), dy = randomValues<float>(N * C, 2);
    const auto gain = randomValues<float>(C, 3), bias = randomValues<float>(C, 4);
    const auto targets = randomTokens(N, static_cast<std::int32_t>(C), 5);
    Values y = zeros(N * C), mean = zeros(N), rstd = zeros(N), lse = zeros(N);
    auto rounded = halves(y);
    cpu::geluForward(y.data(), x.data(), N * C);
    cpu::geluForward(rounded.data(), x.data(), N * C);
    expectRounded(rounded, y);
    cpu::geluBackward(y.data(), dy.data(), x.data(), N * C);
    cpu::geluBackward(rounded.data(), dy.data(), x.data(), N * C);
    expectRounded(rounded, y);
    cpu::layernormForward(y.data(), mean.data(), rstd.data(), x.data(), gain.data(), bias.data(), N, C);
    cpu::layernormForward(rounded.data(), mean.data(), rstd.data(), x.data(), gain.data(), bias.data(), N, C);
    expectRounded(rounded, y);
    cpu::softmaxCrossEntropyBackward(y.data(), x.data(), lse.data(), targets.data(), 0.5F, N, C);
    cpu::softmaxCrossEntropyBackward(rounded.data(), x.data(), lse.data(), targets.data(), 0.5F, N, C);
    expectRounded(rounded, y);
}

TEST(RoundedRows, SumUpToTheBiasGradientOfWhatTheyStandFor)
{
    constexpr std::int64_t N = 301, C = 129;
    auto dy = randomValues<float>(N * C, 1);
    std::vector<Bf16> rounded = halves(dy);
    cpu::roundToBf16(rounded.data(), dy.data(), N * C);
    std::ranges::transform(rounded, dy.begin(), [](Bf16 value) { return value.toFloat(); });
    auto bias = randomValues<float>(C, 3), judge = bias;
    cpu::biasBackward(bias.data(), rounded.data(), N, C);
    cpu::biasBackward(judge.data(), dy.data(), N, C);
    EXPECT_EQ(bias, judge) << "the same sums in the same order";
}

} // namespace rankscope::kernels
