#include "app/models/overview_model.h"

#include "tests/app/support/sample_run.h"
#include "tests/support/temporary_directory.h"
#include "tracing/store/trace_reader.h"

#include <QStringList>

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

    /// With plain spaces and hyphens.
    static QString spoken(QString words) { return words.replace(QChar(QChar::Nbsp), ' ').remove(QChar(0x2060)); }

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
    EXPECT_EQ(spoken(overviewModel(analysis_).sumLine),
        "? 2.5   C compute 65.0   T transfer 10.0   W waiting 10.0   H host late 12.5   sum 100.0 % = 800.0 rank-ms");
}

TEST_F(OverviewModelTest, ALineMayBreakBetweenTheLeavesButNotInsideOne)
{
    const QString line = overviewModel(analysis_).sumLine;
    EXPECT_EQ(line.split("   ").size(), 6); // five leaves and the sum
    for (const QString& part : line.split("   "))
        EXPECT_FALSE(part.contains(' ')) << part.toStdString();
    EXPECT_EQ(unbroken("rank-seconds"), QStringLiteral("rank-\u2060seconds"));
}

TEST(RankTime, HasNoMoreDigitsThanItsSizeNeeds)
{
    EXPECT_EQ(rankTime(128'100'000), "128.1 rank-ms");
    EXPECT_EQ(rankTime(13'170'000'000), "13.17 rank-seconds");
    EXPECT_EQ(rankTime(131'740'000'000), "131.7 rank-seconds");
    EXPECT_EQ(rankTime(32'094'300'000'000), "32094 rank-seconds");
}

TEST_F(OverviewModelTest, SaysWhatToTryWhatItGivesAndHowCertainThatIs)
{
    tracing::Finding finding;
    finding.title = "Rank 1 is late";
    finding.action = "profile rank 1";
    finding.gain = "a step would take 90.0 ms instead of 100 ms (replay)";
    finding.certainty = "certain";
    finding.costShare = 0.125;
    analysis_.findings = { finding };
    analysis_.headline.gain = "Without it a step would take 90.0 ms instead of 100 ms (replay).";
    OverviewModel model = overviewModel(analysis_);
    EXPECT_EQ(
        model.findings[0].advice, "try: profile rank 1 · then a step would take 90.0 ms instead of 100 ms (replay)");
    EXPECT_EQ(model.findings[0].certainty, "certain");
    EXPECT_EQ(model.gain.toStdString(), analysis_.headline.gain);
    analysis_.findings[0].action.clear();
    EXPECT_EQ(
        overviewModel(analysis_).findings[0].advice, "without it a step would take 90.0 ms instead of 100 ms (replay)");
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
    const QString sumLine = spoken(model.sumLine);
    EXPECT_TRUE(sumLine.contains("C compute 58.8")) << sumLine.toStdString();
    EXPECT_TRUE(sumLine.endsWith("sum 100.0 % = 680.0 rank-ms   outside: D descheduled 120.0 rank-ms"))
        << sumLine.toStdString();
}

TEST(AlertCards, StandNewestFirstWithTimeAndAction)
{
    const tracing::Window run{ 1'000'000'000, 9'000'000'000 };
    const auto cards = alertCards(
        { { "dropped: 3 records", "threshold 0, is 3; for ann; mark", {}, run },
            { "hang: rank 1 is stopped", "threshold 2, is 2.1; restart", { 1 }, { 3'000'000'000, 5'400'000'000 } } },
        run);
    ASSERT_EQ(cards.size(), 2U);
    EXPECT_EQ(cards[0].title, "hang: rank 1 is stopped");
    EXPECT_EQ(cards[0].text, "at 4.40 s · threshold 2, is 2.1");
    EXPECT_EQ(cards[0].certainty, "restart");
    EXPECT_EQ(cards[0].ranks, std::vector<std::int32_t>{ 1 });
    EXPECT_EQ(cards[0].evidence, (tracing::Window{ 3'000'000'000, 5'400'000'000 }));
    EXPECT_EQ(cards[1].text, "at 8.00 s · threshold 0, is 3 · for ann");
}

} // namespace
} // namespace rankscope::app
