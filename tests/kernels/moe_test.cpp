#include "kernels/moe.h"

#include "tests/kernels/finite_difference.h"
#include "tests/kernels/random_values.h"

#include <array>

namespace rankscope::kernels {

using test::expectClose;
using test::expectGradient;
using test::randomTokens;
using test::randomValues;
using test::weightedSum;
using Values = std::vector<float>;
using Doubles = std::vector<double>;
using Indices = std::vector<std::int32_t>;

TEST(Moe, ChoosesTheMostProbableExpertsOfARow)
{
    // exp(0), exp(ln 3), exp(ln 4): 1/8, 3/8, 4/8; then four alike.
    const Values logits{ 0, 1.0986123F, 1.3862944F };
    Values p(3);
    Indices chosen(2);
    cpu::routeForward(p.data(), chosen.data(), logits.data(), { .N = 1, .E = 3, .K = 2 });
    expectClose(p, { 0.125F, 0.375F, 0.5F }, 1e-6);
    EXPECT_EQ(chosen, (Indices{ 2, 1 }));
    const Values alike(4, 7.0F);
    p.resize(4);
    cpu::routeForward(p.data(), chosen.data(), alike.data(), { .N = 1, .E = 4, .K = 2 });
    EXPECT_EQ(chosen, (Indices{ 0, 1 }));
}

TEST(Moe, ARowThatIsNotANumberStillChoosesExpertsThatExist)
{
    const Values logits(3, std::nanf(""));
    Values p(3);
    Indices chosen(2, -1);
    cpu::routeForward(p.data(), chosen.data(), logits.data(), { .N = 1, .E = 3, .K = 2 });
    EXPECT_EQ(chosen, (Indices{ 0, 1 }));
    EXPECT_TRUE(std::isnan(p[0]));
}

TEST(Moe, BalanceIsOneWhereAllExpertsAreUsedAlikeAndTheirNumberWhereOneIs)
{
    const Values even{ 0.5F, 0.5F, 0.5F, 0.5F };
    EXPECT_DOUBLE_EQ(cpu::balanceLoss(even.data(), Indices{ 0, 1 }.data(), { .N = 2, .E = 2, .K = 1 }), 1);
    const Values one{ 1, 0, 1, 0 };
    EXPECT_DOUBLE_EQ(cpu::balanceLoss(one.data(), Indices{ 0, 0 }.data(), { .N = 2, .E = 2, .K = 1 }), 2);
}

TEST(Moe, RowsComeBackWeightedByTheirGates)
{
    // Row 1 goes to two experts, row 0 to none.
    const Values x{ 1, 2, 10, 20 };
    const Indices rows{ 1, 1 };
    Values taken(4), back(4);
    cpu::takeRows(taken.data(), x.data(), rows.data(), 2, 2);
    EXPECT_EQ(taken, (Values{ 10, 20, 10, 20 }));
    const Values gates{ 0.25F, 0.5F };
    cpu::addRows(back.data(), taken.data(), rows.data(), gates.data(), 2, 2);
    EXPECT_EQ(back, (Values{ 0, 0, 7.5F, 15 }));
    cpu::addRows(back.data(), taken.data(), rows.data(), nullptr, 2, 2);
    EXPECT_EQ(back, (Values{ 0, 0, 27.5F, 55 }));
}

TEST(Moe, FastKernelsAreTheReference)
{
    for (const auto& [N, E, K, C] : { std::array{ 1, 1, 1, 1 }, std::array{ 7, 4, 2, 13 }, std::array{ 301, 8, 3, 129 },
             std::array{ 65, 5, 5, 33 } }) {
        const RouteShape shape{ N, E, K };
        const auto n = static_cast<std::size_t>(N * E), m = static_cast<std::size_t>(N * K);
        const Values logits = randomValues<float>(N * E, 1), dp = randomValues<float>(N * E, 2);
        Values p(n), expectedP(n), d(n), expectedD(n);
        Indices chosen(m), expectedChosen(m);
        cpu::routeForward(p.data(), chosen.data(), logits.data(), shape);
        reference::routeForward(expectedP.data(), expectedChosen.data(), logits.data(), shape);
        expectClose(p, expectedP, 1e-6);
        EXPECT_EQ(chosen, expectedChosen);
        cpu::routeBackward(d.data(), dp.data(), p.data(), shape);
        reference::routeBackward(expectedD.data(), dp.data(), p.data(), shape);
        expectClose(d, expectedD, 1e-6);
        EXPECT_NEAR(cpu::balanceLoss(p.data(), chosen.data(), shape),
            reference::balanceLoss(p.data(), chosen.data(), shape), 1e-5);
        cpu::balanceBackward(d.data(), chosen.data(), 0.5F, shape);
        reference::balanceBackward(expectedD.data(), chosen.data(), 0.5F, shape);
        expectClose(d, expectedD, 1e-6);

        const Indices rows = randomTokens(N * K, N, 3);
        const auto wide = static_cast<std::size_t>(N * K * C);
        const Values x = randomValues<float>(N * K * C, 4), dy = randomValues<float>(N * C, 5),
                     gates = randomValues<float>(N * K, 6);
        Values y(static_cast<std::size_t>(N * C)), expectedY(y), dx(wide), expectedDx(wide), dg(m), expectedDg(m);
        cpu::addRows(y.data(), x.data(), rows.data(), gates.data(), N * K, C);
        reference::addRows(expectedY.data(), x.data(), rows.data(), gates.data(), N * K, C);
        expectClose(y, expectedY, 1e-5);
        cpu::addRowsBackward(dx.data(), dg.data(), dy.data(), x.data(), rows.data(), gates.data(), N * K, C);
        reference::addRowsBackward(
            expectedDx.data(), expectedDg.data(), dy.data(), x.data(), rows.data(), gates.data(), N * K, C);
        expectClose(dx, expectedDx, 1e-6);
        expectClose(dg, expectedDg, 1e-5);
        cpu::takeRows(dx.data(), dy.data(), rows.data(), N * K, C);
        reference::takeRows(expectedDx.data(), dy.data(), rows.data(), N * K, C);
        EXPECT_EQ(dx, expectedDx);
    }
}

TEST(Gradient, OfARouterReachesItsLogits)
{
    const RouteShape shape{ .N = 3, .E = 4, .K = 2 };
    auto logits = randomValues<double>(12, 1);
    const auto dp = randomValues<double>(12, 2);
    Doubles p(12), dlogits(12), dprobabilities(dp);
    Indices chosen(6);
    const auto loss = [&] {
        reference::routeForward(p.data(), chosen.data(), logits.data(), shape);
        return weightedSum(p, dp) + 0.7 * 3 * reference::balanceLoss(p.data(), chosen.data(), shape);
    };
    loss();
    reference::balanceBackward(dprobabilities.data(), chosen.data(), 0.7, shape);
    reference::routeBackward(dlogits.data(), dprobabilities.data(), p.data(), shape);
    expectGradient(logits, dlogits, loss);
}

TEST(Gradient, OfGatedRowsReachesRowsAndGates)
{
    auto x = randomValues<double>(8, 1), gates = randomValues<double>(4, 2);
    const auto dy = randomValues<double>(6, 3);
    const Indices rows{ 2, 0, 2, 1 };
    Doubles y(6), dx(8), dgates(4);
    const auto loss = [&] {
        y.assign(6, 0);
        reference::addRows(y.data(), x.data(), rows.data(), gates.data(), 4, 2);
        return weightedSum(y, dy);
    };
    reference::addRowsBackward(dx.data(), dgates.data(), dy.data(), x.data(), rows.data(), gates.data(), 4, 2);
    expectGradient(x, dx, loss);
    expectGradient(gates, dgates, loss);
}

} // namespace rankscope::kernels
