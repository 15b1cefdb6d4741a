#include "tracing/analysis/diagnosis/diagnosis.h"

#include "tracing/analysis/diagnosis/evidence.h"
#include "tracing/analysis/diagnosis/live_watch.h"

#include <gtest/gtest.h>

namespace rankscope::tracing::diagnosis {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr SignatureId kMatmul{ 1 }, kExtra{ 2 };

/// 40 steps of 20 ms on two ranks: each runs 10 kernels of 1 ms, idles 1 ms, loses nothing; one sum of gradients of 1
/// ms.
std::vector<StepMeasures> calmRun()
{
    std::vector<StepMeasures> steps;
    for (std::int64_t number = 0; number < 40; ++number) {
        StepMeasures step;
        step.step = number + 1;
        step.window = { number * 20 * kMs, (number + 1) * 20 * kMs };
        for (std::int32_t rank = 0; rank < 2; ++rank) {
            RankStep own;
            own.rank = rank;
            own.window = step.window;
            own.kernels[kMatmul] = { 10, kMs, 10 * kMs };
            own.idleNs = kMs;
            own.queueNs = 0;
            step.ranks.push_back(own);
        }
        step.flights[{ CollectiveOp::AllReduce, Dimension::Data, 1 << 20, { 0, 1 } }] = { 1, kMs, kMs };
        steps.push_back(std::move(step));
    }
    return steps;
}

RankStep& rankOf(std::vector<StepMeasures>& steps, std::int64_t step, std::size_t rank)
{
    return steps[static_cast<std::size_t>(step - 1)].ranks[rank];
}

TEST(StrongestStretch, FindsWhereEvidenceBeginsAndEnds)
{
    const auto stretch = strongestStretch(std::vector<double>{ -1, -1, 1, 1, -0.5, 1, 1, -1, -1 }, 3);
    ASSERT_TRUE(stretch);
    EXPECT_EQ(stretch->first, 2U);
    EXPECT_EQ(stretch->last, 6U);
    EXPECT_DOUBLE_EQ(stretch->score, 3.5);
    EXPECT_FALSE(strongestStretch(std::vector<double>{ -1, 1, 1, -1 }, 3));
}

TEST(RaisedStretch, NeedsAsManyOtherStepsToCompareWith)
{
    std::vector<double> values(20, 10);
    for (std::size_t i = 8; i < 17; ++i)
        values[i] = 30;
    const auto stretch = raisedStretch(values, 2);
    ASSERT_TRUE(stretch);
    EXPECT_EQ(stretch->first, 8U);
    EXPECT_EQ(stretch->last, 16U);
    EXPECT_FALSE(raisedStretch(std::vector<double>(20, 10), 2));
    // Three steps that stay low are no baseline.
    std::vector<double> mostly(20, 30);
    mostly[0] = mostly[1] = mostly[2] = 10;
    EXPECT_FALSE(raisedStretch(mostly, 2));
}

TEST(Diagnose, SaysNothingOfACalmRun) { EXPECT_TRUE(diagnose(calmRun(), {}).empty()); }

TEST(Diagnose, NamesARankWhoseKernelsTakeTwiceAsLongForSomeSteps)
{
    auto steps = calmRun();
    for (std::int64_t step = 11; step <= 30; ++step)
        rankOf(steps, step, 1).kernels[kMatmul] = { 10, 2 * kMs, 20 * kMs };
    const auto found = diagnose(steps, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].trouble, Trouble::SlowCompute);
    EXPECT_EQ(found[0].ranks, std::vector<std::int32_t>{ 1 });
    EXPECT_EQ(found[0].firstStep, 11);
    EXPECT_EQ(found[0].lastStep, 30);
    EXPECT_FALSE(found[0].lasts);
    EXPECT_DOUBLE_EQ(found[0].times, 2);
    EXPECT_EQ(found[0].excessNs, 20 * 10 * kMs); // 10 ms more in each of 20 steps
}

TEST(Diagnose, NamesAStageThatGetsMoreWorkAndNotTheOtherOne)
{
    auto steps = calmRun();
    for (std::int64_t step = 21; step <= 40; ++step)
        rankOf(steps, step, 0).kernels[kExtra] = { 1, 5 * kMs, 5 * kMs };
    const std::vector<std::int32_t> stages{ 0, 1 };
    const auto found = diagnose(steps, stages);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].trouble, Trouble::MoreWork);
    EXPECT_EQ(found[0].stage, 0);
    EXPECT_EQ(found[0].firstStep, 21);
    EXPECT_TRUE(found[0].lasts);
    EXPECT_DOUBLE_EQ(found[0].times, 1.5);
}

TEST(Diagnose, TellsAPauseFromARankWithoutACore)
{
    auto steps = calmRun();
    for (std::int64_t step = 11; step <= 40; ++step) {
        rankOf(steps, step, 0).idleNs = 9 * kMs; // asleep
        rankOf(steps, step, 1).idleNs = 9 * kMs; // preempted: it was ready all that time
        rankOf(steps, step, 1).queueNs = 8 * kMs;
    }
    const auto found = diagnose(steps, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].trouble, Trouble::Pause);
    EXPECT_EQ(found[0].ranks, std::vector<std::int32_t>{ 0 });
    EXPECT_EQ(found[0].excessNs, 30 * 8 * kMs);
}

TEST(Diagnose, TellsAStallInsideKernelsFromAPauseBetweenThem)
{
    auto steps = calmRun();
    for (std::int64_t step = 11; step <= 40; ++step)
        rankOf(steps, step, 1).offCoreNs = 6 * kMs;
    const auto found = diagnose(steps, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].trouble, Trouble::Stall);
    EXPECT_EQ(found[0].ranks, std::vector<std::int32_t>{ 1 });
}

TEST(Diagnose, OneLongPauseIsAnAccident)
{
    auto steps = calmRun();
    rankOf(steps, 20, 0).idleNs = 500 * kMs;
    EXPECT_TRUE(diagnose(steps, {}).empty());
}

TEST(Diagnose, NamesBothEndsOfALinkThatBecomesSlow)
{
    auto steps = calmRun();
    const Route route{ CollectiveOp::AllReduce, Dimension::Data, 1 << 20, { 0, 1 } };
    for (std::size_t i = 15; i < 40; ++i)
        steps[i].flights[route] = { 1, 4 * kMs, 4 * kMs };
    const auto found = diagnose(steps, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].trouble, Trouble::SlowLink);
    EXPECT_EQ(found[0].ranks, (std::vector<std::int32_t>{ 0, 1 }));
    EXPECT_EQ(found[0].firstStep, 16);
    EXPECT_DOUBLE_EQ(found[0].times, 4);
    EXPECT_EQ(found[0].excessNs, 25 * 3 * kMs);
}

TEST(Diagnose, ARankThatWaitsForDataIsNotCalledSlow)
{
    auto steps = calmRun();
    for (std::int64_t step = 9; step <= 40; ++step)
        rankOf(steps, step, 0).dataNs = 10 * kMs;
    const auto found = diagnose(steps, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].trouble, Trouble::Data);
    EXPECT_EQ(found[0].firstStep, 9);
}

/// The alerts of all steps, fed one by one.
std::vector<Alert> watched(const std::vector<StepMeasures>& steps, const DetectorRule& rule)
{
    LiveWatch watch({ rule });
    std::vector<Alert> alerts;
    for (const StepMeasures& step : steps)
        watch.take(step, alerts);
    return alerts;
}

TEST(LiveWatch, SeesAStragglerAtItsThirdStepAndSaysItOnce)
{
    auto steps = calmRun();
    for (std::int64_t step = 11; step <= 30; ++step)
        rankOf(steps, step, 1).kernels[kMatmul] = { 10, 2 * kMs, 20 * kMs };
    const auto alerts = watched(steps, { "straggler", 0.75, 3, "ann", "notify" });
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts[0].step, 13);
    EXPECT_EQ(alerts[0].ranks, std::vector<std::int32_t>{ 1 });
    EXPECT_DOUBLE_EQ(alerts[0].value, 0.5);
    EXPECT_EQ(alerts[0].rule.owner, "ann");
    EXPECT_TRUE(watched(calmRun(), { "straggler", 0.75, 3, "", "notify" }).empty());
}

TEST(LiveWatch, ComparesStepsWithABaselineThatFollowsChangesThatStay)
{
    auto steps = calmRun();
    for (int round = 0; round < 2; ++round) { // 120 steps
        auto more = calmRun();
        steps.insert(steps.end(), more.begin(), more.end());
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
        steps[i].step = static_cast<std::int64_t>(i) + 1;
        const std::int64_t length = i < 20 ? 20 * kMs : i < 100 ? 30 * kMs : 40 * kMs;
        steps[i].window = { 0, length };
    }
    const auto alerts = watched(steps, { "step_time", 1.1, 3, "", "notify" });
    // 30 ms come with step 21 and stay until they are usual; 40 ms come with step 101.
    ASSERT_EQ(alerts.size(), 2U);
    EXPECT_EQ(alerts[0].step, 23);
    EXPECT_DOUBLE_EQ(alerts[0].value, 1.5);
    EXPECT_EQ(alerts[1].step, 103);
    EXPECT_DOUBLE_EQ(alerts[1].value, 4. / 3);
}

TEST(LiveWatch, SeesWaitsThatGrowInOneDimension)
{
    auto steps = calmRun();
    for (std::size_t i = 0; i < steps.size(); ++i)
        steps[i].waitNs[Dimension::Data] = i < 20 ? 2 * kMs : 6 * kMs; // of 40 ms of rank time: 5 %, then 15 %
    const auto alerts = watched(steps, { "wait_share", 0.05, 3, "", "notify" });
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts[0].step, 23);
    EXPECT_NEAR(alerts[0].value, 0.1, 1e-12);
    EXPECT_NE(alerts[0].title.find("in dp"), std::string::npos) << alerts[0].title;
}

TEST(LiveWatch, SeesExchangesThatTakeLongerOnTheirRoute)
{
    auto steps = calmRun();
    for (std::size_t i = 25; i < steps.size(); ++i)
        steps[i].flights.begin()->second = { 1, 2 * kMs, 2 * kMs };
    const auto alerts = watched(steps, { "transfer", 1.5, 3, "", "notify" });
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts[0].step, 28);
    EXPECT_EQ(alerts[0].ranks, (std::vector<std::int32_t>{ 0, 1 }));
}

} // namespace
} // namespace rankscope::tracing::diagnosis
