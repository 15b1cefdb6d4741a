#include "kernels/adamw.h"
#include "kernels/gradient_norm.h"

#include "tests/kernels/random_values.h"

namespace rankscope::kernels {

using Values = std::vector<float>;

TEST(Adamw, FirstStepMovesByTheLearningRateAndDecays)
{
    // Step 1: m/(1-b1) = g and v/(1-b2) = g^2, so the direction is the sign of g: 1 - 0.1 (1 + 0.5 * 1) = 0.85.
    AdamwSettings settings{ .learningRate = 0.1F, .weightDecay = 0.5F };
    Values w{ 1 }, m{ 0 }, v{ 0 };
    const Values g{ 4 };
    cpu::adamwStep(w.data(), m.data(), v.data(), g.data(), 1, settings);
    EXPECT_NEAR(w[0], 0.85F, 1e-6F);
    EXPECT_NEAR(m[0], 0.4F, 1e-6F); // (1 - 0.9) * 4
    EXPECT_NEAR(v[0], 0.8F, 1e-6F); // (1 - 0.95) * 16
}

TEST(Adamw, CpuFollowsTheReferenceOverTenSteps)
{
    constexpr std::int64_t n = 33333;
    auto w = test::randomValues<float>(n, 1), w2 = w;
    Values m(n), v(n), m2(n), v2(n);
    for (int step = 1; step <= 10; ++step) {
        const auto g = test::randomValues<float>(n, 100 + static_cast<std::uint64_t>(step));
        const AdamwSettings settings{ .learningRate = 1e-2F, .weightDecay = 0.1F, .gradientScale = 0.3F, .step = step };
        cpu::adamwStep(w.data(), m.data(), v.data(), g.data(), n, settings);
        reference::adamwStep(w2.data(), m2.data(), v2.data(), g.data(), n, settings);
    }
    test::expectClose(w, w2, 2e-6);
    test::expectClose(m, m2, 1e-6);
    test::expectClose(v, v2, 1e-6);
}

TEST(SquaredNorm, HandValue)
{
    const Values x{ 3, -4 };
    EXPECT_DOUBLE_EQ(cpu::squaredNorm(x.data(), 2), 25);
    EXPECT_DOUBLE_EQ(cpu::squaredNorm(x.data(), 0), 0);
}

TEST(SquaredNorm, AgreesWithTheReferenceAcrossBlocks)
{
    const auto x = test::randomValues<float>(100001, 1);
    const double expected = reference::squaredNorm(x.data(), 100001);
    EXPECT_NEAR(cpu::squaredNorm(x.data(), 100001), expected, 1e-12 * expected);
}

} // namespace rankscope::kernels
