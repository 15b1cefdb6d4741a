#include "app/shell/chips.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

RunSnapshot twoRanks()
{
    RunSnapshot run;
    run.run.source = "rankscope";
    run.run.worldSize = 2;
    run.ranks.resize(2);
    run.ranks[1].clockErrorNs = 80'000;
    run.window = { 0, 3'304'000'000 };
    return run;
}

QStringList texts(const QVector<Chip>& chips)
{
    QStringList all;
    for (const Chip& chip : chips)
        all << chip.text;
    return all;
}

TEST(Chips, SayRanksStepsDurationSourceAndClock)
{
    tracing::RunAnalysis analysis;
    analysis.counted = tracing::StepRange{ 4, 6 };
    const QStringList expected{ "2 ranks", "steps 4 to 6", "3.30 s", "Rankscope", "clock ±0.08 ms" };
    EXPECT_EQ(texts(runChips(twoRanks(), &analysis, RunSession::Progress::Finished, 0)), expected);
}

TEST(Chips, NameTheSourceAndCountItsFiles)
{
    RunSnapshot run = twoRanks();
    run.run.source = "pytorch";
    run.provenance
        = { { "file.0.path", "/t/rank0.json" }, { "file.1.path", "/t/rank1.json" }, { "file.1.format", "x" } };
    EXPECT_TRUE(texts(runChips(run, nullptr, RunSession::Progress::Finished, 0)).contains("PyTorch, 2 files"));
}

TEST(Chips, SayHowLiveTheRunIs)
{
    const auto live = runChips(twoRanks(), nullptr, RunSession::Progress::Live, 420'000'000);
    EXPECT_EQ(live.back().text, "live, 0.4 s behind");
    EXPECT_TRUE(live.back().isLive);
    EXPECT_EQ(runChips(twoRanks(), nullptr, RunSession::Progress::Stalled, 0).back().text, "not finished");
}

TEST(Chips, CountAlertsOnEveryPageAndNameTheNewest)
{
    RunSnapshot run = twoRanks();
    run.alerts = { { "dropped: 3 records", "mark", {}, {} }, { "hang: rank 1 is stopped", "restart", { 1 }, {} } };
    const auto chips = runChips(run, nullptr, RunSession::Progress::Live, 0);
    EXPECT_EQ(chips[1].text, "2 alerts");
    EXPECT_EQ(chips[1].tip, "Newest: hang: rank 1 is stopped. The overview lists them");
}

TEST(Chips, SayThatRanksAreMissing)
{
    RunSnapshot run = twoRanks();
    run.run.worldSize = 128;
    EXPECT_EQ(runChips(run, nullptr, RunSession::Progress::Finished, 0).front().text, "2 of 128 ranks");
}

TEST(LossLine, SumsByKindAndSaysWhereNothingWasLost)
{
    EXPECT_EQ(lossLine({}), "nothing dropped, nothing repaired");
    EXPECT_EQ(lossLine({ { "ring full", 3, "rank 0" }, { "ring full", 1000, "rank 1" }, { "rank lost", 1, "" } }),
        "ring full: 1,003 · rank lost: 1");
}

} // namespace
} // namespace rankscope::app
