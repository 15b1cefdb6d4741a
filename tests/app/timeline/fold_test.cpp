#include "app/timeline/core/fold.h"

#include <gtest/gtest.h>

#include <random>

namespace rankscope::app::timeline {
namespace {

using tracing::SpanClass;

SpanRecord span(std::int64_t beginNs, std::int64_t endNs, SpanClass spanClass = SpanClass::Compute)
{
    SpanRecord record;
    record.beginNs = beginNs;
    record.endNs = endNs;
    record.spanClass = spanClass;
    return record;
}

LaneContent fold(const std::vector<SpanRecord>& spans, double nsPerPx)
{
    SpanFolder folder(nsPerPx);
    for (const SpanRecord& record : spans)
        folder.add(record);
    LaneContent content;
    folder.finish(content);
    return content;
}

TEST(SpanFolder, KeepsWhatIsAtLeastThreePixelsWide)
{
    const LaneContent content = fold({ span(0, 300), span(400, 700) }, 100);
    ASSERT_EQ(content.spans.size(), 2U);
    EXPECT_TRUE(content.folds.empty());
}

TEST(SpanFolder, FoldsNarrowNeighboursWithCountFullnessColourAndLongest)
{
    // Cells are 300 ns. Two of compute (20 + 30) and one of wait (100) lie in the first: 150 of 300 ns are covered.
    const LaneContent content
        = fold({ span(0, 20), span(50, 80), span(150, 250, SpanClass::Wait), span(310, 320) }, 100);
    ASSERT_EQ(content.folds.size(), 2U);
    const FoldRecord& first = content.folds[0];
    EXPECT_EQ(first.count, 3);
    EXPECT_EQ(first.busyNs, 150);
    EXPECT_DOUBLE_EQ(first.fullness(), 0.5);
    EXPECT_EQ(first.cover, SpanClass::Wait);
    EXPECT_EQ(first.longestBeginNs, 150);
    EXPECT_EQ(first.longestEndNs, 250);
    EXPECT_EQ(content.folds[1].count, 1);
}

TEST(SpanFolder, ALoneSpanOfAPixelStaysASpanWithItsName)
{
    SpanRecord lone = span(1000, 1100);
    lone.name = 7;
    const LaneContent content = fold({ lone }, 100);
    ASSERT_EQ(content.spans.size(), 1U);
    EXPECT_EQ(content.spans[0].name, 7);
}

TEST(SpanFolder, DoesNotCountAnOverlapTwice)
{
    const LaneContent content = fold({ span(0, 100), span(50, 120) }, 100);
    ASSERT_EQ(content.folds.size(), 1U);
    EXPECT_EQ(content.folds[0].busyNs, 120);
}

TEST(SpanFolder, FoldsEachLevelByItself)
{
    SpanRecord lower = span(10, 20);
    lower.level = 1;
    const LaneContent content = fold({ span(0, 5), lower, span(30, 35) }, 100);
    ASSERT_EQ(content.folds.size(), 2U);
    EXPECT_EQ(content.levels, 2);
    EXPECT_EQ(content.folds[0].count, 2);
    EXPECT_EQ(content.folds[1].level, 1);
}

TEST(SpanFolder, SplitsACollectiveIntoItsTwoPartsWhenItColoursAFold)
{
    SpanRecord collective = span(0, 100, SpanClass::Transfer);
    collective.row = RowKind::Collective;
    collective.matched = true;
    collective.splitNs = 70;
    const LaneContent content = fold({ collective, span(110, 120, SpanClass::Transfer) }, 100);
    ASSERT_EQ(content.folds.size(), 1U);
    EXPECT_EQ(content.folds[0].cover, SpanClass::Wait); // 70 of wait, 30 + 10 of transfer
}

/// For any zoom: every span that is a pixel or wider is drawn where it is, by itself or as the longest of its fold or
/// under a fold at its place, and the number of records is bounded by the pixels.
TEST(SpanFolder, NeverLosesARareLongSpanAndNeverCostsMoreThanItsPixels)
{
    std::mt19937 random(7);
    std::uniform_int_distribution<std::int64_t> gap(1, 400);
    std::uniform_int_distribution<std::int64_t> shortNs(1, 60);
    std::vector<SpanRecord> spans;
    std::int64_t at = 0;
    for (int i = 0; i < 20000; ++i) {
        const bool rare = i % 2500 == 1700;
        const std::int64_t length = rare ? 20'000 : shortNs(random);
        spans.push_back(span(at, at + length, rare ? SpanClass::Checkpoint : SpanClass::Compute));
        at += length + gap(random);
    }
    for (const double nsPerPx : { 10.0, 333.0, 5000.0, 19'000.0, 60'000.0 }) {
        const LaneContent content = fold(spans, nsPerPx);
        const double pixels = static_cast<double>(at) / nsPerPx;
        EXPECT_LE(static_cast<double>(content.spans.size() + content.folds.size()), pixels + 2) << nsPerPx;
        std::int64_t counted = static_cast<std::int64_t>(content.spans.size());
        for (const FoldRecord& record : content.folds)
            counted += record.count;
        EXPECT_EQ(counted, 20000);
        for (const SpanRecord& wanted : spans) {
            if (wanted.spanClass != SpanClass::Checkpoint)
                continue;
            const bool drawn = std::any_of(content.spans.begin(), content.spans.end(),
                                   [&](const SpanRecord& record) { return record.beginNs == wanted.beginNs; })
                || std::any_of(content.folds.begin(), content.folds.end(),
                    [&](const FoldRecord& record) { return record.longestBeginNs == wanted.beginNs; });
            EXPECT_TRUE(drawn) << "at " << wanted.beginNs << " with " << nsPerPx << " ns a pixel";
        }
    }
}

tracing::Tile tile(std::int64_t index, std::int32_t count, std::int64_t busyNs, SpanClass spanClass)
{
    tracing::Tile made;
    made.index = index;
    made.count = count;
    made.busyNs = busyNs;
    made.classNs[static_cast<std::size_t>(spanClass)] = busyNs;
    made.longestClass = spanClass;
    made.longestBeginNs = index * tracing::tileWidthNs(0);
    made.longestEndNs = made.longestBeginNs + busyNs;
    return made;
}

TEST(Tiles, TheLevelsCellsAreOneToFourPixelsWide)
{
    const auto base = static_cast<double>(tracing::kTileBaseNs);
    EXPECT_EQ(tileLevelFor(100), 0); // finer than any tile
    EXPECT_EQ(tileLevelFor(base / 4), 0);
    EXPECT_EQ(tileLevelFor(base), 1);
    for (double nsPerPx = base; nsPerPx < 100 * 1e9; nsPerPx *= 1.7) {
        const double px = static_cast<double>(tracing::tileWidthNs(tileLevelFor(nsPerPx))) / nsPerPx;
        EXPECT_GT(px, 1.0);
        EXPECT_LE(px, 4.0);
    }
}

TEST(Tiles, ALongSpanIsDrawnOnceAndItsCellsAreLeftToIt)
{
    constexpr std::int64_t cell = tracing::kTileBaseNs;
    // A wait over cells 1 and 2; 1 % of compute in cell 4.
    std::vector<tracing::Tile> tiles{ tile(1, 1, cell, SpanClass::Wait), tile(2, 0, cell, SpanClass::Wait),
        tile(4, 3, cell / 100, SpanClass::Compute) };
    tiles[0].longestEndNs = 3 * cell;
    tiles[1].longestEndNs = tiles[1].longestBeginNs;
    const double nsPerPx = static_cast<double>(cell) / 2;
    const std::vector<SpanRecord> spans = longSpansOf(tiles, nsPerPx);
    ASSERT_EQ(spans.size(), 1U);
    EXPECT_EQ(spans[0].beginNs, cell);
    EXPECT_EQ(spans[0].endNs, 3 * cell);
    EXPECT_EQ(spans[0].spanClass, SpanClass::Wait);
    const std::vector<FoldRecord> folds = foldsOf(tiles, spans);
    ASSERT_EQ(folds.size(), 1U);
    EXPECT_EQ(folds[0].beginNs, 4 * cell);
    EXPECT_EQ(folds[0].cover, SpanClass::Compute);
    EXPECT_NEAR(folds[0].fullness(), 0.01, 1e-4);
}

TEST(Counters, FoldKeepsTheExtremesOfAPixel)
{
    const std::vector<tracing::CounterSample> samples{ { {}, 0, 5 }, { {}, 10, 9 }, { {}, 20, 1 }, { {}, 30, 4 },
        { {}, 150, 6 } };
    const std::vector<CounterRecord> records = foldCounter(samples, 100, 400);
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0].low, 1);
    EXPECT_EQ(records[0].high, 9);
    EXPECT_EQ(records[0].last, 4);
    EXPECT_EQ(records[0].endNs, 150);
    EXPECT_EQ(records[1].endNs, 400);
}

TEST(Levels, OverlappingSpansGetRowsOfTheirOwn)
{
    std::vector<SpanRecord> spans{ span(0, 100), span(50, 150), span(100, 120), span(110, 130) };
    EXPECT_EQ(assignLevels(spans, 4), 3);
    EXPECT_EQ(spans[0].level, 0);
    EXPECT_EQ(spans[1].level, 1);
    EXPECT_EQ(spans[2].level, 0);
    EXPECT_EQ(spans[3].level, 2);
}

TEST(SpanFolder, AFoldOfTheLedgerIsAsFullAsItsOwnStretchesAre)
{
    SpanFolder folder(100); // cells of 300 ns
    SpanRecord stretch;
    stretch.row = RowKind::Ledger;
    stretch.spanClass = SpanClass::Host;
    stretch.beginNs = 300, stretch.endNs = 350;
    folder.add(stretch);
    stretch.spanClass = SpanClass::Wait;
    stretch.beginNs = 350, stretch.endNs = 400;
    folder.add(stretch);
    stretch.beginNs = 400, stretch.endNs = 2000; // long enough to be drawn by itself
    folder.add(stretch);
    LaneContent content;
    folder.finish(content);
    ASSERT_EQ(content.folds.size(), 1U);
    EXPECT_DOUBLE_EQ(content.folds[0].fullness(), 1.0); // nothing of the run is missing there
}

} // namespace
} // namespace rankscope::app::timeline
