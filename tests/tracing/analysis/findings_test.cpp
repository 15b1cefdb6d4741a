#include "tracing/analysis/run_analysis.h"
#include "tracing/analysis/wording.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

/// A run of as many ranks as splits, over a window of 1 s.
RunAnalysis runOf(std::vector<TimeSplit> splits)
{
    RunAnalysis run;
    run.window = { 0, 1'000'000'000 };
    run.facts.run.worldSize = static_cast<std::int32_t>(splits.size());
    for (TimeSplit& split : splits) {
        split.windowNs = run.window.durationNs();
        split.idleNs += split.windowNs - split.sumNs();
        RankAnalysis rank;
        rank.info.rank = static_cast<std::int32_t>(run.ranks.size());
        rank.info.node = "here";
        rank.split = split;
        rank.waitForRankNs.assign(splits.size(), 0);
        run.total += split;
        run.facts.ranks.push_back(rank.info);
        run.ranks.push_back(rank);
    }
    return run;
}

TimeSplit computing(std::int64_t ns)
{
    TimeSplit split;
    split.computeNs = ns;
    return split;
}

/// Rank 1 computes all the time, rank 0 a tenth of it and then waits for rank 1.
RunAnalysis stragglerRun()
{
    TimeSplit waiting = computing(100'000'000);
    waiting.waitNs = 900'000'000;
    RunAnalysis run = runOf({ waiting, computing(1'000'000'000) });
    run.ranks[0].waitForRankNs[1] = 900'000'000;
    run.ranks[0].overlap.communicationNs = 900'000'000;
    CollectiveRow row;
    row.op = CollectiveOp::AllReduce;
    row.dimension = Dimension::Data;
    row.count = row.lateCount = 12;
    row.lateRank = 1;
    row.waitForLateNs = 900'000'000;
    run.collectives = { row };
    return run;
}

} // namespace

TEST(Findings, NameTheLateRankTheCostAndWhatIsNotTheProblem)
{
    const auto found = findings(stragglerRun());
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].title, "Rank 1 is late to every all-reduce in dp");
    EXPECT_EQ(found[0].severity, Severity::Warning);
    EXPECT_DOUBLE_EQ(*found[0].costShare, 0.45); // 0.9 of 2 rank-seconds
    EXPECT_EQ(found[0].ranks, std::vector<std::int32_t>{ 1 });
    EXPECT_EQ(found[0].text,
        "rank 0 waits 900 rank-ms of 2.00 rank-seconds · it computes 10.00 times as long as the others (900 ms more in "
        "all)");
    EXPECT_EQ(found[1].title, "The network is not the problem");
    EXPECT_EQ(found[1].costShare, std::nullopt);
}

TEST(Findings, SayThatThereIsNone)
{
    const auto found = findings(runOf({ computing(999'000'000), computing(999'000'000) }));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].title, "No finding: nothing costs more than 1 % of rank time.");
}

TEST(Findings, SayThatNothingWasRecorded)
{
    const auto found = findings(RunAnalysis{});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].title, "No finding: nothing was recorded.");
}

TEST(Findings, PutLostDataFirst)
{
    RunAnalysis run = stragglerRun();
    run.facts.losses = { { "ring full", 1204, "rank 0" } };
    const auto found = findings(run);
    EXPECT_EQ(found[0].title, "The recording is not complete");
    EXPECT_EQ(found[0].text, "ring full: 1,204, rank 0");
}

TEST(Findings, TellWhereARankDied)
{
    RunAnalysis run = stragglerRun();
    run.facts.losses = { { "rank died", 1, "rank 1 died in all-reduce dp #12" } };
    const auto found = findings(run);
    EXPECT_EQ(found[0].title, "A rank died");
    EXPECT_EQ(found[0].text, "rank 1 died in all-reduce dp #12");
}

TEST(Findings, SayNothingGoodAboutTheNetworkWherePartnersAreMissing)
{
    RunAnalysis run = stragglerRun();
    run.total.unsplitNs = 1;
    for (const Finding& finding : findings(run))
        EXPECT_NE(finding.title, "The network is not the problem");
}

TEST(Findings, RanksThatShareCoresLeaveDescheduledOutsideTheDenominator)
{
    TimeSplit split = computing(500'000'000);
    split.descheduledNs = 400'000'000;
    split.waitNs = 100'000'000;
    RunAnalysis run = runOf({ split, split });
    run.facts.run.coresPerNode = 1;
    EXPECT_EQ(run.sharedCores(), 1);
    EXPECT_EQ(run.capacityNs(), 1'200'000'000);
    EXPECT_DOUBLE_EQ(run.shareOf(run.total.computeNs), 10.0 / 12);
    bool said = false;
    for (const Finding& finding : findings(run))
        said = said || finding.title == "2 ranks share 1 core";
    EXPECT_TRUE(said);
}

TEST(Headline, SaysShareDenominatorWhatAndWhom)
{
    const Headline line = headline(stragglerRun());
    EXPECT_EQ(line.sentence, "45.0 % of rank time is spent waiting for rank 1.");
    EXPECT_EQ(line.cause, "It computes 10.00 times as long as the others (900 ms more in all).");
    EXPECT_EQ(line.bigCaption, "compute, share of rank time");
    EXPECT_EQ(line.bigHint, "FLOPs are not in this trace");
    EXPECT_DOUBLE_EQ(line.bigShare, 0.55);
}

TEST(Headline, WhenSeveralThingsCostItNamesTheLargest)
{
    TimeSplit split = computing(600'000'000);
    split.bubbleByPhaseNs = { 100'000'000, 50'000'000, 50'000'000 };
    split.dataNs = 150'000'000;
    split.checkpointNs = 50'000'000;
    EXPECT_EQ(
        headline(runOf({ split })).sentence, "40.0 % of rank time is lost; most of it, 20.0 %, is pipeline bubble.");
}

TEST(Headline, IsTheUsefulShareWhereFlopsAndPeakAreKnown)
{
    RunAnalysis run = runOf({ computing(1'000'000'000) });
    run.usefulFlops = 30e9;
    run.capacityFlops = 100e9;
    EXPECT_DOUBLE_EQ(headline(run).bigShare, 0.3);
    EXPECT_EQ(headline(run).bigCaption, "useful, of theoretical compute");
    EXPECT_EQ(headline(run).sentence, "Nothing costs more than 1 % of rank time: 100.0 % of it is compute.");
}

TEST(Headline, SaysNothingWithoutFigures) { EXPECT_EQ(headline(RunAnalysis{}).sentence, ""); }

} // namespace rankscope::tracing
