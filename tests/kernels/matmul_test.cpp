#include "kernels/matmul.h"

#include "kernels/bf16.h"
#include "tests/kernels/random_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace rankscope::kernels {

TEST(Matmul, MultipliesTwoByThreeByHand)
{
    // [1 2 3; 4 5 6] times [1 0; 0 1; 1 1] = [4 5; 10 11]; plus the bias [10 20].
    const std::vector<float> a{ 1, 2, 3, 4, 5, 6 }, b{ 1, 0, 0, 1, 1, 1 }, bias{ 10, 20 };
    std::vector<float> c(4);
    const std::vector<float> expected{ 14, 25, 20, 31 };
    reference::matmul<float>(c.data(), a.data(), b.data(), bias.data(), { .M = 2, .N = 2, .K = 3 });
    EXPECT_EQ(c, expected);
    cpu::matmul(c.data(), a.data(), b.data(), bias.data(), { .M = 2, .N = 2, .K = 3 });
    EXPECT_EQ(c, expected);
}

TEST(Bf16, RoundsToTheNearestAndToEven)
{
    // 8 bits of precision: neighbours of 1 are 1/128 apart above it.
    const float step = 1.0F / 128;
    EXPECT_EQ(Bf16::of(1).toFloat(), 1);
    EXPECT_EQ(Bf16::of(1 + 0.4F * step).toFloat(), 1);
    EXPECT_EQ(Bf16::of(1 + 0.6F * step).toFloat(), 1 + step);
    EXPECT_EQ(Bf16::of(1 + 0.5F * step).toFloat(), 1) << "1 is even";
    EXPECT_EQ(Bf16::of(1 + 1.5F * step).toFloat(), 1 + 2 * step);
    EXPECT_EQ(Bf16::of(-3e38F).toFloat(), -Bf16::of(3e38F).toFloat());
    EXPECT_EQ(Bf16::of(3.4e38F).toFloat(), std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(Bf16::of(std::numeric_limits<float>::quiet_NaN()).toFloat()));
    EXPECT_TRUE(std::isnan(Bf16::of(std::bit_cast<float>(0x7fffffffU)).toFloat()));
}

TEST(Bf16, TheVectorLoopRoundsAlike)
{
    auto x = test::randomValues<float>(1003, 7);
    x[5] = std::bit_cast<float>(0x7f800001U);
    std::vector<Bf16> y(x.size());
    cpu::roundToBf16(y.data(), x.data(), 1003);
    for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(y[i].bits, Bf16::of(x[i]).bits) << i;
}

TEST(Matmul, CostOfTwoByThreeByFour)
{
    // 2*2*3*4 = 48 flop; 2*4 + 4*3 + 2*3 = 26 floats.
    const KernelCost cost = matmulCost({ .M = 2, .N = 3, .K = 4 });
    EXPECT_DOUBLE_EQ(cost.flop, 48);
    EXPECT_DOUBLE_EQ(cost.bytes, 104);
}

// Names the case in the list of tests: sizes, which side is transposed, whether it accumulates.
static void PrintTo(const MatmulShape& s, std::ostream* out)
{
    *out << s.M << 'x' << s.N << 'x' << s.K << (s.transposeA ? " A" : "") << (s.transposeB ? " B" : "")
         << (s.accumulate ? " plus" : "") << (s.lda ? " lda" : "");
}

class MatmulForms : public testing::TestWithParam<MatmulShape> { };

TEST_P(MatmulForms, CpuAgreesWithTheReference)
{
    const MatmulShape s = GetParam();
    const auto a = test::randomValues<float>((s.transposeA ? s.K : s.M) * s.rowA(), 1);
    const auto b = test::randomValues<float>((s.transposeB ? s.N : s.K) * s.rowB(), 2);
    const auto bias = test::randomValues<float>(s.N, 3);
    auto fast = test::randomValues<float>(s.M * s.rowC(), 4);
    auto judge = fast;
    const float* biasOrNone = s.accumulate ? nullptr : bias.data();
    cpu::matmul(fast.data(), a.data(), b.data(), biasOrNone, s);
    reference::matmul(judge.data(), a.data(), b.data(), biasOrNone, s);
    // A sum of K products in fp32 is off by about sqrt(K) 6e-8.
    test::expectClose(fast, judge, 1e-5);
}

TEST_P(MatmulForms, CpuAgreesWithTheReferenceOnRoundedNumbers)
{
    const MatmulShape s = GetParam();
    auto a = test::randomValues<float>((s.transposeA ? s.K : s.M) * s.rowA(), 1);
    auto b = test::randomValues<float>((s.transposeB ? s.N : s.K) * s.rowB(), 2);
    const auto bias = test::randomValues<float>(s.N, 3);
    auto fast = test::randomValues<float>(s.M * s.rowC(), 4);
    auto judge = fast;
    const auto rounded = [](std::vector<float>& values) {
        std::vector<Bf16> half(values.size());
        cpu::roundToBf16(half.data(), values.data(), static_cast<std::int64_t>(values.size()));
        std::transform(half.begin(), half.end(), values.begin(), [](Bf16 value) { return value.toFloat(); });
        return half;
    };
    const std::vector<Bf16> halfA = rounded(a), halfB = rounded(b);
    const float* biasOrNone = s.accumulate ? nullptr : bias.data();
    cpu::matmul(fast.data(), halfA.data(), halfB.data(), biasOrNone, s);
    reference::matmul(judge.data(), a.data(), b.data(), biasOrNone, s);
    test::expectClose(fast, judge, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(OddSizes, MatmulForms,
    testing::Values(MatmulShape{ .M = 1, .N = 1, .K = 1 }, MatmulShape{ .M = 17, .N = 33, .K = 65 },
        MatmulShape{ .M = 129, .N = 65, .K = 70, .transposeB = true },
        MatmulShape{ .M = 31, .N = 47, .K = 257, .transposeA = true, .accumulate = true },
        MatmulShape{ .M = 13, .N = 19, .K = 23, .transposeA = true, .transposeB = true },
        MatmulShape{ .M = 9, .N = 21, .K = 11, .lda = 17, .ldb = 30, .ldc = 25 },
        MatmulShape{ .M = 40, .N = 24, .K = 64, .transposeA = true, .lda = 96, .accumulate = true }));

TEST(Matmul, RepeatsBitForBit)
{
    const MatmulShape shape{ .M = 65, .N = 43, .K = 300 };
    const auto a = test::randomValues<float>(65 * 300, 1), b = test::randomValues<float>(300 * 43, 2);
    std::vector<float> first(65 * 43), second(65 * 43);
    cpu::matmul(first.data(), a.data(), b.data(), nullptr, shape);
    cpu::matmul(second.data(), a.data(), b.data(), nullptr, shape);
    EXPECT_EQ(first, second);
}

} // namespace rankscope::kernels
