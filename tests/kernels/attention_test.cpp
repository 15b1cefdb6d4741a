#include "kernels/attention.h"

#include "tests/kernels/finite_difference.h"
#include "tests/kernels/random_values.h"

namespace rankscope::kernels {

TEST(Attention, TwoTokensByHand)
{
    // D = 1, q = (1, 1), k = (0, ln 3), v = (10, 20). Token 0 sees itself: 10. Token 1 weighs e^0 : e^(ln 3) = 1 : 3:
    // (10 + 3 * 20) / 4 = 17.5, log-sum-exp ln 4.
    const float ln3 = std::log(3.0F);
    const std::vector<float> qkv{ 1, 0, 10, 1, ln3, 20 };
    const AttentionShape shape{ .B = 1, .T = 2, .H = 1, .D = 1 };
    std::vector<float> out(2), lse(2);
    reference::attentionForward(out.data(), lse.data(), qkv.data(), shape);
    test::expectClose(out, { 10, 17.5F }, 1e-6);
    test::expectClose(lse, { 0, std::log(4.0F) }, 1e-6);
    cpu::attentionForward(out.data(), lse.data(), qkv.data(), shape);
    test::expectClose(out, { 10, 17.5F }, 1e-6);
    test::expectClose(lse, { 0, std::log(4.0F) }, 1e-6);
}

TEST(Attention, CostCountsCausalPairsOnly)
{
    // 3 tokens make 6 pairs, each 4 * 5 flop, in 2 * 4 heads.
    EXPECT_DOUBLE_EQ(attentionForwardCost({ .B = 2, .T = 3, .H = 4, .D = 5 }).flop, 6 * 20 * 8);
    EXPECT_DOUBLE_EQ(attentionBackwardCost({ .B = 2, .T = 3, .H = 4, .D = 5 }).flop, 2 * 6 * 20 * 8);
}

// Names the case in the list of tests.
static void PrintTo(const AttentionShape& s, std::ostream* out)
{
    *out << "B " << s.B << " T " << s.T << " H " << s.H << " D " << s.D;
}

class AttentionShapes : public testing::TestWithParam<AttentionShape> { };

TEST_P(AttentionShapes, CpuAgreesWithTheReference)
{
    const AttentionShape s = GetParam();
    const std::int64_t out = s.B * s.T * s.H * s.D, stats = s.B * s.H * s.T;
    auto qkv = test::randomValues<float>(3 * out, 1);
    for (float& value : qkv)
        value *= 3; // sharp enough that the softmax is far from uniform
    const auto dout = test::randomValues<float>(out, 2);
    const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    std::vector<float> fast(size(out)), judge(size(out)), fastLse(size(stats)), judgeLse(size(stats));
    cpu::attentionForward(fast.data(), fastLse.data(), qkv.data(), s);
    reference::attentionForward(judge.data(), judgeLse.data(), qkv.data(), s);
    test::expectClose(fast, judge, 1e-5);
    test::expectClose(fastLse, judgeLse, 1e-5);

    std::vector<float> fastGradient(qkv.size(), 7), judgeGradient(qkv.size());
    cpu::attentionBackward(fastGradient.data(), dout.data(), fast.data(), qkv.data(), fastLse.data(), s);
    reference::attentionBackward(judgeGradient.data(), dout.data(), judge.data(), qkv.data(), judgeLse.data(), s);
    test::expectClose(fastGradient, judgeGradient, 2e-5);
}

TEST_P(AttentionShapes, RoundedIsWhatTheFullOneRoundsTo)
{
    const AttentionShape s = GetParam();
    const std::int64_t out = s.B * s.T * s.H * s.D;
    const auto qkv = test::randomValues<float>(3 * out, 1), dout = test::randomValues<float>(out, 2);
    std::vector<float> full(dout.size()), lse(static_cast<std::size_t>(s.B * s.H * s.T)), gradient(qkv.size());
    std::vector<Bf16> rounded(full.size()), roundedGradient(qkv.size());
    cpu::attentionForward(full.data(), lse.data(), qkv.data(), s);
    cpu::attentionForward(rounded.data(), lse.data(), qkv.data(), s);
    test::expectRounded(rounded, full);
    // Backward reads the rounded output.
    std::ranges::transform(rounded, full.begin(), [](Bf16 value) { return value.toFloat(); });
    cpu::attentionBackward(gradient.data(), dout.data(), full.data(), qkv.data(), lse.data(), s);
    cpu::attentionBackward(roundedGradient.data(), dout.data(), rounded.data(), qkv.data(), lse.data(), s);
    test::expectRounded(roundedGradient, gradient);
}

INSTANTIATE_TEST_SUITE_P(OddSizes, AttentionShapes,
    testing::Values(AttentionShape{ .B = 1, .T = 1, .H = 1, .D = 1 }, AttentionShape{ .B = 2, .T = 33, .H = 3, .D = 5 },
        AttentionShape{ .B = 1, .T = 32, .H = 2, .D = 16 }, AttentionShape{ .B = 3, .T = 100, .H = 2, .D = 17 },
        AttentionShape{ .B = 1, .T = 97, .H = 1, .D = 64 }, AttentionShape{ .B = 2, .T = 128, .H = 2, .D = 48 }));

TEST(Attention, BackwardIsTheDerivativeOfForward)
{
    const AttentionShape s{ .B = 1, .T = 4, .H = 2, .D = 3 };
    auto qkv = test::randomValues<double>(s.T * 3 * s.H * s.D, 1);
    const auto dout = test::randomValues<double>(s.T * s.H * s.D, 2);
    std::vector<double> out(dout.size()), lse(8), gradient(qkv.size());
    const auto loss = [&] {
        reference::attentionForward(out.data(), lse.data(), qkv.data(), s);
        return test::weightedSum(out, dout);
    };
    loss();
    reference::attentionBackward(gradient.data(), dout.data(), out.data(), qkv.data(), lse.data(), s);
    test::expectGradient(qkv, gradient, loss);
}

} // namespace rankscope::kernels
