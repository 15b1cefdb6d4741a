#include "app/timeline/core/labels.h"
#include "app/timeline/core/lane_source.h"
#include "app/timeline/core/ledger_source.h"

#include "tests/app/timeline/big_run.h"
#include "tests/app/timeline/straggler_run.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/trace_builder.h"
#include "tracing/analysis/run_analysis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace rankscope::app::timeline {
namespace {

using tracing::LaneKind;
using tracing::SpanClass;

class SourceTest : public testing::Test {
protected:
    SourceTest()
    {
        const auto file = folder_ / "run.rsdb";
        writeStragglerRun(file);
        reader_.emplace(std::move(*tracing::TraceReader::open(file.string())));
        facts_ = *readRunFacts(*reader_);
    }

    const tracing::Lane& lane(std::int32_t rank, LaneKind kind) const
    {
        return *std::find_if(facts_->lanes.begin(), facts_->lanes.end(),
            [&](const tracing::Lane& lane) { return lane.rank == rank && lane.kind == kind; });
    }
    LaneContent load(std::int32_t rank, LaneKind kind, tracing::Window window, double nsPerPx)
    {
        return *loadLane(*reader_, *facts_, lane(rank, kind), window, nsPerPx);
    }

    support::TemporaryDirectory folder_;
    std::optional<tracing::TraceReader> reader_;
    std::shared_ptr<const RunFacts> facts_;
};

TEST_F(SourceTest, SplitsACollectiveAtTheLastEntryAndNamesWhoWasLate)
{
    const LaneContent content = load(0, LaneKind::Communication, { 0, 1'000'000'000 }, 1'000'000);
    ASSERT_EQ(content.spans.size(), 1U);
    const SpanRecord& span = content.spans[0];
    EXPECT_TRUE(span.matched);
    EXPECT_EQ(span.splitNs, 900'000'000);
    EXPECT_EQ(span.lateRank, 2);
    EXPECT_EQ(waitLabel(span).front(), "W 400 ms waiting for rank 2");
    EXPECT_EQ(transferLabel(span).front(), "T 30.0 ms");
}

TEST(RunFactsTest, AStepIsAsLongAsAllRanksTakeForIt)
{
    // Rank 1 begins step 7 before rank 0 does, and is the last to end step 8.
    const support::TemporaryDirectory folder;
    const auto file = folder / "run.rsdb";
    support::TraceBuilder builder(file, 2);
    builder.step(0, 7, { 10, 100 }).step(1, 7, { 0, 90 }).step(0, 8, { 100, 200 }).step(1, 8, { 110, 250 });
    builder.finish();
    auto reader = tracing::TraceReader::open(file.string());
    ASSERT_TRUE(reader);
    const auto facts = *readRunFacts(*reader);
    ASSERT_EQ(facts->steps.size(), 2U);
    EXPECT_EQ(facts->steps[0].beginNs, 0);
    EXPECT_EQ(facts->steps[0].endNs, 100);
    EXPECT_EQ(facts->steps[1].endNs, 250);
}

TEST_F(SourceTest, BubblesSayTheirPhaseAndWhomTheyWaitFor)
{
    const LaneContent content = load(2, LaneKind::Compute, { 0, 1'000'000'000 }, 1'000'000);
    ASSERT_EQ(content.spans.size(), 10U); // the bubble, 8 kernels, the optimizer
    EXPECT_EQ(content.spans[0].spanClass, SpanClass::Bubble);
    EXPECT_EQ(spanLabel(content.spans[0], *facts_).front(), "B fill 100 ms, waits for rank 0");
    EXPECT_EQ(spanLabel(content.spans[1], *facts_).front(), "attention forward   49.0 ms");
}

TEST_F(SourceTest, AKernelsHoverTextGivesItsRates)
{
    const LaneContent content = load(0, LaneKind::Compute, { 0, 40'000'000 }, 100'000);
    Hit hit;
    hit.span = content.spans.front();
    const std::vector<std::string> lines = hoverLines(hit, *facts_);
    ASSERT_GE(lines.size(), 3U);
    EXPECT_EQ(lines[0], "attention forward");
    EXPECT_EQ(lines[1], "49.0 ms   at 0 ns");
    // 40 GFLOP and 120 MB in 49 ms.
    EXPECT_EQ(lines[2], "816 GFLOP/s   120 MB   2.45 GB/s");
}

TEST_F(SourceTest, AFoldsHoverTextCountsWhatIsInIt)
{
    Hit hit;
    hit.fold = FoldRecord{ 0, 1000, 412, 710, 1000, SpanClass::Compute, 0, 0, 3'100'000, SpanClass::Compute };
    EXPECT_EQ(hoverLines(hit, *facts_).front(), "412 spans, 71 % full, longest 3.10 ms");
}

TEST_F(SourceTest, HostRangesKeepTheirDepth)
{
    const LaneContent content = load(2, LaneKind::Host, { 0, 1'000'000'000 }, 1'000'000);
    EXPECT_EQ(content.levels, 3);
    EXPECT_EQ(content.spans.front().range, tracing::RangeKind::Step);
    EXPECT_EQ(content.spans.front().level, 0);
    const bool hasData = std::any_of(content.spans.begin(), content.spans.end(),
        [](const SpanRecord& span) { return span.spanClass == SpanClass::Data && span.level == 1; });
    EXPECT_TRUE(hasData);
}

TEST_F(SourceTest, ACounterKeepsItsValueIntoTheWindow)
{
    // The samples stand at 10, 450 and 950 ms of each second.
    const LaneContent content = load(0, LaneKind::Counter, { 500'000'000, 600'000'000 }, 1'000'000);
    ASSERT_EQ(content.samples.size(), 1U);
    EXPECT_EQ(content.samples[0].last, 1400);
    EXPECT_EQ(content.samples[0].endNs, 950'000'000);
    EXPECT_EQ(counterRange(content, "MB"), "900 to 1400");
}

TEST_F(SourceTest, TheLedgerLaneLeavesNoRecordedTimeWithoutALabel)
{
    const auto run = tracing::analyseWithLedger(*reader_);
    ASSERT_TRUE(run);
    for (std::int32_t rank = 0; rank < 4; ++rank) {
        const LaneContent content = *loadLedger(*reader_, *facts_, &run->lanes, rank, facts_->window, 1000);
        std::int64_t covered = 0;
        for (const SpanRecord& span : content.spans)
            covered += span.durationNs();
        EXPECT_TRUE(content.folds.empty());
        EXPECT_EQ(covered, facts_->window.durationNs()) << rank;
    }
}

TEST_F(SourceTest, ALedgerStretchKeepsItsLengthWhereTheWindowShowsAPartOfIt)
{
    const auto run = tracing::analyseWithLedger(*reader_);
    ASSERT_TRUE(run);
    // All of the window lies in rank 0's wait from 500 to 900 ms.
    const LaneContent content = *loadLedger(*reader_, *facts_, &run->lanes, 0, { 600'000'000, 700'000'000 }, 100'000);
    ASSERT_EQ(content.spans.size(), 1U);
    EXPECT_EQ(spanLabel(content.spans[0], *facts_).front(), "W 400 ms waiting for rank 2");
}

TEST(LedgerSource, CountsTheTransferThatEndsABubbleAsTransferAlsoFromTiles)
{
    const auto cell = [](std::int64_t waitNs, std::int64_t transferNs) {
        LedgerCell c;
        c.compute[static_cast<std::size_t>(SpanClass::Compute)] = 200;
        c.compute[static_cast<std::size_t>(SpanClass::Bubble)] = 800;
        c.computeNs = 1000;
        c.communication[static_cast<std::size_t>(SpanClass::Wait)] = waitNs;
        c.communication[static_cast<std::size_t>(SpanClass::Transfer)] = transferNs;
        c.communicationNs = waitNs + transferNs;
        return c;
    };
    EXPECT_EQ(coverOf(cell(100, 700), 1000), SpanClass::Transfer);
    EXPECT_EQ(coverOf(cell(700, 100), 1000), SpanClass::Bubble);
    EXPECT_EQ(coverOf(cell(0, 0), 1000), SpanClass::Bubble);
    EXPECT_EQ(coverOf(cell(0, 0), 5000), SpanClass::Unattributed);
}

/// 120,000 kernels of four ranks: 9 steps of 100 ms, in each 88 ms of kernels (rank 3: 96), then the all-reduce.
class TileSourceTest : public testing::Test {
protected:
    TileSourceTest()
    {
        const auto file = folder_ / "big.rsdb";
        writeBigRun(file, 120'000);
        reader_.emplace(std::move(*tracing::TraceReader::open(file.string())));
        facts_ = *readRunFacts(*reader_);
    }

    support::TemporaryDirectory folder_;
    std::optional<tracing::TraceReader> reader_;
    std::shared_ptr<const RunFacts> facts_;
};

TEST_F(TileSourceTest, ManyEventsAreReadFromTilesAndCostNoMoreThanTheirPixels)
{
    const tracing::Window run = facts_->window;
    const double nsPerPx = static_cast<double>(run.durationNs()) / 1000;
    for (const tracing::Lane& lane : facts_->lanes) {
        if (lane.kind != LaneKind::Compute)
            continue;
        const LaneContent content = *loadLane(*reader_, *facts_, lane, run, nsPerPx);
        EXPECT_TRUE(content.fromTiles);
        EXPECT_LE(content.spans.size() + content.folds.size(), 1000U);
        std::int64_t count = static_cast<std::int64_t>(content.spans.size());
        for (const FoldRecord& fold : content.folds)
            count += fold.count;
        std::int64_t rows = 0;
        ASSERT_TRUE(reader_->visit<tracing::Kernel>(lane.id, run, [&](std::span<const tracing::Kernel> some) {
            rows += static_cast<std::int64_t>(some.size());
            return true;
        }));
        EXPECT_EQ(count, rows);
    }
}

TEST_F(TileSourceTest, BeforeTheLedgerIsCountedTilesTellWhatCoversTheRun)
{
    const tracing::Window run = facts_->window;
    const LaneContent content
        = *loadLedger(*reader_, *facts_, nullptr, 0, run, static_cast<double>(run.durationNs()) / 1000);
    EXPECT_TRUE(content.fromTiles);
    std::map<SpanClass, std::int64_t> byClass;
    std::int64_t reached = run.beginNs;
    for (const FoldRecord& fold : content.folds) {
        EXPECT_EQ(fold.beginNs, reached);
        reached = fold.endNs;
        byClass[fold.cover] += fold.endNs - fold.beginNs;
    }
    EXPECT_EQ(reached, run.endNs);
    // 88 ms of compute, 8 of wait and 4 of transfer in each 100, to the width of a cell.
    const double whole = static_cast<double>(run.durationNs());
    EXPECT_NEAR(static_cast<double>(byClass[SpanClass::Compute]) / whole, 0.88, 0.02);
    EXPECT_NEAR(static_cast<double>(byClass[SpanClass::Wait]) / whole, 0.08, 0.02);
    EXPECT_NEAR(static_cast<double>(byClass[SpanClass::Transfer]) / whole, 0.04, 0.02);
}

TEST_F(TileSourceTest, WhatCameAfterTheLedgerWasCountedIsToldFromTiles)
{
    const tracing::Window run = facts_->window;
    tracing::LabelledInterval host;
    host.beginNs = run.beginNs;
    host.endNs = run.beginNs + run.durationNs() / 2;
    host.label = SpanClass::Host;
    tracing::LedgerLanes lanes;
    lanes.covers = { host.beginNs, host.endNs };
    lanes.ranks[0] = { host };
    const LaneContent content
        = *loadLedger(*reader_, *facts_, &lanes, 0, run, static_cast<double>(run.durationNs()) / 1000);
    ASSERT_EQ(content.spans.size(), 1U);
    EXPECT_EQ(content.spans[0].spanClass, SpanClass::Host);
    ASSERT_FALSE(content.folds.empty());
    EXPECT_EQ(content.folds.front().beginNs, host.endNs);
    EXPECT_EQ(content.folds.back().endNs, run.endNs);
    EXPECT_TRUE(std::any_of(content.folds.begin(), content.folds.end(),
        [](const FoldRecord& fold) { return fold.cover == SpanClass::Compute; }));
}

TEST(SpanLabel, ShowsAKernelsShortNameAndKeepsTheFullOneForTheHoverText)
{
    RunFacts facts;
    facts.names = { "", "volta_sgemm_128x32_nt" };
    facts.shortNames = { { 1, "sgemm 128x32 nt" } };
    SpanRecord span;
    span.endNs = 1000;
    span.spanClass = tracing::SpanClass::Compute;
    span.name = 1;
    EXPECT_TRUE(spanLabel(span, facts).front().starts_with("sgemm 128x32 nt")) << spanLabel(span, facts).front();
    EXPECT_EQ(spanName(span, facts), "volta_sgemm_128x32_nt");
}

TEST(LaneTitle, TellsCommunicationOfTheSameNameApartByItsDimension)
{
    tracing::Lane lane;
    lane.kind = LaneKind::Communication;
    lane.dimension = tracing::Dimension::Data;
    lane.name = "communication";
    EXPECT_EQ(laneTitle(lane), "communication dp");
    lane.name = "all-reduce dp";
    EXPECT_EQ(laneTitle(lane), "all-reduce dp");
    lane.kind = LaneKind::Counter;
    lane.name = "memory", lane.unit = "MB";
    EXPECT_EQ(laneTitle(lane), "memory, MB");
}

TEST(RankTags, AreLeftOutFromTheEndWhereTheyDoNotFit)
{
    tracing::RankInfo rank;
    rank.stage = 1;
    rank.dp = 3;
    EXPECT_EQ(rankTags(rank, 12), (Wordings{ "late 12x  pp 1  dp 3", "late 12x  pp 1", "late 12x" }));
    EXPECT_EQ(rankTags(rank, 0), (Wordings{ "pp 1  dp 3", "pp 1", "" }));
}

} // namespace
} // namespace rankscope::app::timeline
