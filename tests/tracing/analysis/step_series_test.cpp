#include "tracing/analysis/step_series.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

TEST(Steps, TileFromTheEarliestRankToTheNextStep)
{
    // rank, step, attempt, begin, end
    const std::vector<Step> steps{ { 0, 0, 0, 10, 100 }, { 0, 1, 0, 105, 190 }, { 1, 0, 0, 5, 98 },
        { 1, 1, 0, 110, 205 } };
    EXPECT_EQ(tiledSteps(steps), (std::vector<StepSpan>{ { 0, 0, { 5, 105 } }, { 1, 0, { 105, 205 } } }));
}

TEST(Steps, ARestartLeavesAHoleBetweenAttempts)
{
    const std::vector<Step> steps{ { 0, 3, 0, 0, 50 }, { 0, 3, 1, 500, 550 } };
    EXPECT_EQ(tiledSteps(steps), (std::vector<StepSpan>{ { 3, 0, { 0, 50 } }, { 3, 1, { 500, 550 } } }));
}

TEST(Steps, WarmUpIsLeftOutFromFourStepsOnAndTheLastWhileTheRunGoesOn)
{
    RunInfo finished, live, imported;
    finished.source = live.source = "rankscope";
    imported.source = "pytorch"; // recorded from the midst of a run: its first step is like any other
    finished.finished = imported.finished = true;
    std::vector<StepSpan> steps;
    EXPECT_EQ(countedSteps(steps, finished), std::nullopt);
    for (std::int64_t i = 0; i < 3; ++i)
        steps.push_back({ i, 0, { i * 10, i * 10 + 10 } });
    EXPECT_EQ(countedSteps(steps, finished), (StepRange{ 0, 2 }));
    EXPECT_EQ(countedSteps(steps, live), (StepRange{ 0, 1 }));
    steps.push_back({ 3, 0, { 30, 40 } });
    EXPECT_EQ(countedSteps(steps, finished), (StepRange{ 1, 3 }));
    EXPECT_EQ(countedSteps(steps, live), (StepRange{ 1, 2 }));
    EXPECT_EQ(countedSteps(steps, imported), (StepRange{ 0, 3 }));
}

TEST(Steps, OutputsSayWhichOfThemCount)
{
    std::vector<StepSpan> steps;
    EXPECT_EQ(stepsText(steps, steps), "no steps");
    for (std::int64_t i = 1; i <= 4; ++i)
        steps.push_back({ i, 0, { i * 10, i * 10 + 10 } });
    EXPECT_EQ(stepsText(steps, steps), "4 steps (1-4)");
    EXPECT_EQ(stepsText(std::span(steps).subspan(1), steps), "3 of 4 steps (2-4)");
    EXPECT_EQ(stepsText(std::span(steps).first(1), steps), "1 of 4 steps (1)");
    EXPECT_EQ(stepsAskedFor(steps, { 7, 9 }).error().message(), "steps 7:9: the file has steps 1 to 4");
}

TEST(Steps, StatisticsNameTheWorst)
{
    std::vector<StepSpan> steps;
    for (std::int64_t i = 0; i < 20; ++i)
        steps.push_back({ i, 0, { 0, 100 + i } });
    steps[4].window.endNs = 500;
    // 19 durations of 100 to 119 without 104, and 500: sum 2190 - 104 + 500; p95 is the 19th of 20.
    EXPECT_EQ(stepStats(steps), (StepStats{ 20, 2586 / 20, 119, 500, 4 }));
    EXPECT_EQ(stepStats({}).count, 0);
}

TEST(Series, AreKnownByTheirNames)
{
    EXPECT_EQ(seriesKind("loss"), SeriesKind::Loss);
    EXPECT_EQ(seriesKind("held-out loss"), SeriesKind::HeldOutLoss);
    EXPECT_EQ(seriesKind("Validation loss"), SeriesKind::HeldOutLoss);
    EXPECT_EQ(seriesKind("tokens_per_s"), SeriesKind::TokensPerSecond);
    EXPECT_EQ(seriesKind("throughput"), SeriesKind::TokensPerSecond);
    EXPECT_EQ(seriesKind("queue"), SeriesKind::Other);
}

TEST(Series, OfAMixtureOfExpertsAreNotTakenForItsLossAndSpeed)
{
    EXPECT_EQ(seriesKind("balance loss"), SeriesKind::Other);
    EXPECT_EQ(seriesKind("aux_loss"), SeriesKind::Other);
    EXPECT_EQ(seriesKind("dropped tokens"), SeriesKind::Other);
    EXPECT_EQ(seriesKind("expert 3"), SeriesKind::Other);
}

TEST(Series, TheOneWithMostSamplesIsTaken)
{
    const std::vector<Series> series{ { "loss", "nats", 0, {} }, { "loss", "nats", 1, { { LaneId{ 1 }, 5, 2.5 } } } };
    ASSERT_NE(findSeries(series, SeriesKind::Loss), nullptr);
    EXPECT_EQ(findSeries(series, SeriesKind::Loss)->rank, 1);
    EXPECT_EQ(findSeries(series, SeriesKind::Cpu), nullptr);
}

} // namespace rankscope::tracing
