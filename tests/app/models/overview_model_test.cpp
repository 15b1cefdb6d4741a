#include "app/models/overview_model.h"

#include "tests/app/support/sample_run.h"
#include "tests/support/temporary_directory.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>

#include <numeric>

namespace rankscope::app {
namespace {

/// The sample run's steps 2 to 5: 400 ms of each of two ranks.
class OverviewModelTest : public testing::Test {
protected:
    void SetUp() override
    {
        writeSampleRun(directory_ / "run.rsdb");
        auto reader = tracing::TraceReader::open((directory_ / "run.rsdb").string());
        ASSERT_TRUE(reader);
        auto analysis = tracing::analyse(*reader);
        ASSERT_TRUE(analysis);
        analysis_ = std::move(*analysis);
    }

    static std::int64_t sum(const std::vector<BarSegment>& bar)
    {
        return std::accumulate(bar.begin(), bar.end(), std::int64_t{ 0 },
            [](std::int64_t all, const BarSegment& segment) { return all + segment.ns; });
    }

    static const BarSegment* find(const std::vector<BarSegment>& bar, Leaf leaf)
    {
        for (const BarSegment& segment : bar) {
            if (segment.leaf == leaf)
                return &segment;
        }
        return nullptr;
    }

    support::TemporaryDirectory directory_;
    tracing::RunAnalysis analysis_;
};

TEST_F(OverviewModelTest, EveryBarSumsToItsWindow)
{
    const OverviewModel model = overviewModel(analysis_);
    EXPECT_EQ(sum(model.strip), 800 * kMs);
    ASSERT_EQ(model.ranks.size(), 2U);
    for (const RankRow& row : model.ranks)
        EXPECT_EQ(sum(row.bar), 400 * kMs) << row.rank;
    // All communication of rank 0 is the all-reduce: 30 ms in each of four steps.
    EXPECT_EQ(sum(model.ranks[1].communication), 120 * kMs);
}

TEST_F(OverviewModelTest, SumLineNamesEveryLeafAndItsDenominator)
{
    EXPECT_EQ(overviewModel(analysis_).sumLine,
        "? 2.5   C compute 65.0   T transfer 10.0   W waiting 10.0   H host late 12.5   sum 100.0 % = 800.0 rank-ms");
}

TEST_F(OverviewModelTest, SlowestRankStandsFirstAndTheOthersSayWhomTheyWaitFor)
{
    const OverviewModel model = overviewModel(analysis_);
    EXPECT_EQ(model.ranks[0].rank, 1);
    EXPECT_EQ(model.ranks[1].rank, 0);
    const BarSegment* wait = find(model.ranks[1].bar, Leaf::Wait);
    ASSERT_TRUE(wait);
    EXPECT_EQ(wait->labels.front(), "W waiting for rank 1");
    const BarSegment* host = find(model.ranks[0].bar, Leaf::Host);
    ASSERT_TRUE(host);
    EXPECT_EQ(host->labels.front(), "H host late");
}

TEST_F(OverviewModelTest, ColumnsAreSharesOfTheRanksWindow)
{
    const RankRow row = overviewModel(analysis_).ranks[1];
    EXPECT_EQ(row.compute, "60.0");
    EXPECT_EQ(row.waiting, "20.0");
    EXPECT_EQ(row.hidden, "0.0 %"); // nothing runs under the all-reduce
}

TEST_F(OverviewModelTest, HeadlineAndBigNumberAreThoseOfTheAnalysis)
{
    const OverviewModel model = overviewModel(analysis_);
    EXPECT_EQ(model.sentence.toStdString(), analysis_.headline.sentence);
    EXPECT_TRUE(model.cause.contains("rank 1")) << model.cause.toStdString();
    EXPECT_EQ(model.bigNumber, "65.0 %");
    EXPECT_EQ(model.findings.size(), analysis_.findings.size());
    EXPECT_FALSE(model.isProvisional);
}

TEST_F(OverviewModelTest, WarmUpStepIsShownButNotCounted)
{
    const OverviewModel model = overviewModel(analysis_);
    ASSERT_EQ(model.steps.size(), 5U);
    EXPECT_FALSE(model.steps[0].counted);
    EXPECT_TRUE(model.steps[1].counted);
    EXPECT_EQ(model.steps[1].ns, 100 * kMs);
}

TEST_F(OverviewModelTest, LossStandsAtItsStep)
{
    const OverviewModel model = overviewModel(analysis_);
    ASSERT_EQ(model.loss.size(), 2U);
    EXPECT_EQ(model.loss[0].name, "train");
    ASSERT_EQ(model.loss[0].points.size(), 5U);
    EXPECT_EQ(model.loss[0].points[2].x, 3);
    EXPECT_DOUBLE_EQ(model.loss[0].points[2].y, 3.0); // 2 + 3/3
    EXPECT_EQ(model.lossHint, "train 2.60, held out 2.70");
}

TEST_F(OverviewModelTest, RanksThatShareCoresSaySoAndCountWhatTheCoresCanDo)
{
    analysis_.facts.run.coresPerNode = 1;
    analysis_.total.computeNs -= 120 * kMs;
    analysis_.total.descheduledNs = 120 * kMs;
    const OverviewModel model = overviewModel(analysis_);
    EXPECT_EQ(model.sharedCores, "2 ranks share 1 core");
    EXPECT_EQ(model.strip.back().leaf, Leaf::Descheduled);
    // 800 - 120 rank-ms had a core; 400 of them computed: 58.8 %.
    EXPECT_TRUE(model.sumLine.contains("C compute 58.8")) << model.sumLine.toStdString();
    EXPECT_TRUE(model.sumLine.endsWith("sum 100.0 % = 680.0 rank-ms   outside: D descheduled 120.0 rank-ms"))
        << model.sumLine.toStdString();
}

} // namespace
} // namespace rankscope::app
