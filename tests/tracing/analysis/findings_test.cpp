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
    Lateness late;
    late.rank = 1;
    late.waitNs = late.waitLowNs = 900'000'000;
    late.causes = { { "compute", 900'000'000 } };
    late.causeNs = 1'000'000'000;
    late.peersCauseNs = 100'000'000;
    late.waiting = { 0 };
    late.lateCount = late.count = 12;
    late.op = CollectiveOp::AllReduce;
    late.dimension = Dimension::Data;
    late.evidence = { 100'000'000, 1'000'000'000 };
    run.late = { late };
    return run;
}

/// Rank 1's device waits 800 ms for its host, rank 0 for rank 1.
RunAnalysis lateHostRun()
{
    TimeSplit waiting = computing(200'000'000), late = computing(200'000'000);
    waiting.waitNs = 800'000'000;
    late.hostNs = 800'000'000;
    RunAnalysis run = runOf({ waiting, late });
    run.gpuTime = true;
    run.steps = { { 4, 0, { 0, 500'000'000 } }, { 5, 0, { 500'000'000, 1'000'000'000 } } };
    Lateness rank;
    rank.rank = 1;
    rank.waitNs = 800'000'000;
    rank.waitLowNs = 400'000'000;
    rank.causes = { { "host", 800'000'000 } };
    rank.causeNs = rank.ownNs = 800'000'000;
    rank.waiting = { 0 };
    rank.lateCount = 2;
    rank.count = 3;
    rank.hostRange = "# sparse";
    rank.hostRangeNs = 700'000'000;
    run.late = { rank };
    run.savings = { { std::nullopt, 1, "host", { 1'000'000'000, 200'000'000, 200'000'000, 300'000'000 } } };
    run.savingSteps = 2;
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
        "rank 0 waits 900 rank-ms of 2.00 rank-seconds · last in 12 of 12 collectives · it computes 10.00 times as "
        "long "
        "as its peers (900 ms more in all)");
    EXPECT_EQ(found[0].certainty, "certain");
    EXPECT_EQ(found[0].evidence, (Window{ 100'000'000, 1'000'000'000 }));
    EXPECT_EQ(found[1].title, "The network is not the problem");
    EXPECT_EQ(found[1].costShare, std::nullopt);
}

TEST(Findings, ALateRankCostsItsOwnIdleTimeAndAllTheWaitsItMakes)
{
    const auto found = findings(lateHostRun());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].title, "Rank 1 is late to 2 of 3 collectives");
    EXPECT_DOUBLE_EQ(*found[0].costShare, 0.8); // 800 + 800 of 2000 rank-ms; the host's part is not said again
    EXPECT_NE(
        found[0].text.find("its host launches nothing for 350 ms in each of 2 steps (# sparse)"), std::string::npos)
        << found[0].text;
    EXPECT_EQ(found[0].gain, "a step would take 100 ms instead of 500 ms (replay, 100 to 150 ms)");
    EXPECT_EQ(found[0].action, "look at what rank 1 does in # sparse");
    EXPECT_EQ(found[0].certainty, "at least 50.0 % of it, whatever the clocks' error");
}

TEST(Findings, SayWhereTheCauseOfTheFirstWaitLies)
{
    RunAnalysis run = lateHostRun();
    run.late[0].causes = { { "before the recording", 700'000'000 }, { "host", 100'000'000 } };
    run.late[0].ownNs = 0;
    run.late[0].delayNs = 7'500'000;
    run.late[0].firstRank = 0;
    const auto found = findings(run);
    ASSERT_EQ(found.size(), 2U);
    const Finding& rank = found[0].ranks == std::vector<std::int32_t>{ 1 } && found[0].gain.empty()
            && found[0].title.starts_with("Rank")
        ? found[0]
        : found[1];
    EXPECT_EQ(rank.title, "Rank 1 enters the step 7.50 ms after rank 0");
    EXPECT_NE(rank.text.find("the cause lies before the recording · also 5.0 % host"), std::string::npos) << rank.text;
}

TEST(Findings, HowCollectivesWereMatchedIsNoDamage)
{
    RunAnalysis run = stragglerRun();
    run.facts.provenance["collectives.matching"] = "matched by order; rank 0 shifted by 1 against rank 1";
    const auto found = findings(run);
    EXPECT_EQ(found.front().title, "Rank 1 is late to every all-reduce in dp");
    EXPECT_EQ(found.back().title, "Collectives were matched by their order");
    EXPECT_EQ(found.back().severity, Severity::Info);
}

TEST(Findings, TransfersOfATraceWithoutDimensionsNameNone)
{
    TimeSplit split = computing(600'000'000);
    split.transferNs = 400'000'000;
    split.transferByDimensionNs[static_cast<std::size_t>(Dimension::None)] = 400'000'000;
    RunAnalysis run = runOf({ split, split });
    std::string text;
    for (const Finding& finding : findings(run))
        text += finding.title + ": " + finding.text + "\n";
    EXPECT_NE(text.find("Transfers are not hidden"), std::string::npos) << text;
    EXPECT_EQ(text.find("most of it in"), std::string::npos) << text;
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
    EXPECT_EQ(run.capacityWord(), "rank time with a core");
    bool said = false;
    for (const Finding& finding : findings(run))
        said = said || finding.title == "2 ranks share 1 core";
    EXPECT_TRUE(said);
}

TEST(Headline, SaysShareDenominatorWhatAndWhom)
{
    const Headline line = headline(stragglerRun());
    EXPECT_EQ(line.sentence, "45.0 % of rank time is spent waiting for rank 1.");
    EXPECT_EQ(line.cause, "It computes 10.00 times as long as its peers (900 ms more in all).");
    EXPECT_EQ(line.bigCaption, "compute, share of rank time");
    EXPECT_EQ(line.bigHint, "FLOPs are not in this trace");
    EXPECT_DOUBLE_EQ(line.bigShare, 0.55);
}

TEST(Headline, NamesTheHostsRangeTheWholeCostAndTheGain)
{
    const Headline line = headline(lateHostRun());
    EXPECT_EQ(line.sentence, "40.0 % of GPU time is spent waiting for rank 1.");
    EXPECT_EQ(line.cause, "Its host launches nothing for 350 ms in each of 2 steps (# sparse). 80.0 % in all.");
    EXPECT_EQ(line.gain, "Without it a step would take 100 ms instead of 500 ms (replay, 100 to 150 ms).");
}

TEST(Headline, WhenSeveralThingsCostItNamesTheLargest)
{
    TimeSplit split = computing(600'000'000);
    split.bubbleByPhaseNs = { 110'000'000, 50'000'000, 50'000'000 };
    split.dataNs = 140'000'000;
    split.checkpointNs = 50'000'000;
    EXPECT_EQ(
        headline(runOf({ split })).sentence, "40.0 % of rank time is lost; most of it, 21.0 %, is pipeline bubble.");
}

TEST(Headline, DoesNotCallLessThanHalfMostOfIt)
{
    TimeSplit split = computing(600'000'000);
    split.bubbleByPhaseNs = { 150'000'000, 0, 0 };
    split.dataNs = 130'000'000;
    split.checkpointNs = 120'000'000;
    EXPECT_EQ(headline(runOf({ split })).sentence,
        "40.0 % of rank time is lost; the largest part, 15.0 %, is pipeline bubble.");
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

TEST(Findings, NameTheRanksOfAllThatTheySum)
{
    // Only rank 1's step has a tail, and what is after the last operation is as little explained as a gap before it.
    TimeSplit even = computing(1'000'000'000), tail = computing(900'000'000);
    tail.tailNs = 100'000'000;
    const auto found = findings(runOf({ even, tail }));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].text, "100 rank-ms of 2.00 rank-seconds · most on rank 1");
    EXPECT_EQ(found[0].ranks, std::vector<std::int32_t>{ 1 });
}

TEST(Findings, NameNobodyWhereMostRanksHaveTheSame)
{
    TimeSplit even = computing(1'000'000'000), tail = computing(900'000'000);
    tail.tailNs = 100'000'000;
    const auto found = findings(runOf({ tail, even, tail }));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].text, "200 rank-ms of 3.00 rank-seconds");
}

TEST(Findings, DoNotSayOfOneRankThatNoneIsLate)
{
    RunAnalysis run = runOf({ computing(1'000'000'000) });
    run.ranks[0].overlap.communicationNs = 1;
    for (const Finding& finding : findings(run))
        EXPECT_NE(finding.title, "No rank is late");
}

TEST(Findings, SayWhatTheDeclaredScheduleCostsByItself)
{
    const auto bubbleText = [](const std::string& schedule) {
        RunAnalysis run = runOf({ { .bubbleByPhaseNs = { 200'000'000, 0, 0 } }, {} });
        run.ranks[1].info.stage = 1;
        run.facts.provenance["config.batch.micro_batches"] = "4";
        run.facts.provenance["config.parallel.schedule"] = schedule;
        run.facts.provenance["config.parallel.chunks"] = "2";
        for (const Finding& finding : findings(run)) {
            if (finding.title == "Ranks idle in the pipeline's bubbles")
                return finding.text;
        }
        return std::string("no such finding");
    };
    // Two stages, four micro-batches: 1 of 5; with two chunks 0.5 of 4.5; with a third of the bubble 1 of 13.
    EXPECT_NE(bubbleText("\"1f1b\"").find("cost 20.0 % of"), std::string::npos) << bubbleText("\"1f1b\"");
    EXPECT_NE(bubbleText("\"interleaved\"").find("cost 11.1 % of"), std::string::npos);
    EXPECT_NE(bubbleText("\"zb-h1\"").find("cost 7.7 % of"), std::string::npos);
}

} // namespace rankscope::tracing
