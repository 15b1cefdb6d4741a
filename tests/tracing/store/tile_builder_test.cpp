#include "tracing/store/tile_builder.h"

#include <gtest/gtest.h>
#include <map>
#include <tuple>

namespace rankscope::tracing {

namespace {

constexpr LaneId kLane{ 1 };
constexpr std::int64_t W = kTileBaseNs;

/// Plays the run file: tiles as they were put last.
class Tiles {
public:
    Tiles()
        : builder([this](LaneId lane, int level, Window window) -> Result<std::vector<Tile>> {
            std::vector<Tile> found;
            for (const auto& [key, tile] : stored) {
                const std::int64_t beginNs = tile.index * tileWidthNs(level);
                if (tile.lane == lane && tile.level == level && beginNs < window.endNs
                    && beginNs + tileWidthNs(level) > window.beginNs)
                    found.push_back(tile);
            }
            ++loads;
            return found;
        })
    {
    }

    void flush()
    {
        const Status done = builder.flush([this](std::span<const Tile> tiles) -> Status {
            // A row of the file takes the place of the one before.
            const std::int64_t row = tileChunkOf(tiles.front().index);
            std::erase_if(stored, [&](const auto& entry) {
                const Tile& old = entry.second;
                return old.lane == tiles.front().lane && old.level == tiles.front().level
                    && tileChunkOf(old.index) == row;
            });
            for (const Tile& tile : tiles) {
                EXPECT_EQ(tileChunkOf(tile.index), row);
                stored[{ tile.lane, tile.level, tile.index }] = tile;
            }
            return Done{};
        });
        ASSERT_TRUE(done);
        builder.trim();
    }
    const Tile& at(int level, std::int64_t index) { return stored.at({ kLane, level, index }); }
    std::int64_t busyNs(int level) const
    {
        std::int64_t sum = 0;
        for (const auto& [key, tile] : stored)
            sum += tile.level == level ? tile.busyNs : 0;
        return sum;
    }
    std::int64_t count(int level) const
    {
        std::int64_t sum = 0;
        for (const auto& [key, tile] : stored)
            sum += tile.level == level ? tile.count : 0;
        return sum;
    }

    std::map<std::tuple<LaneId, int, std::int64_t>, Tile> stored;
    int loads = 0;
    TileBuilder builder;
};

std::int64_t ofClass(const Tile& tile, SpanClass spanClass)
{
    return tile.classNs[static_cast<std::size_t>(spanClass)];
}

} // namespace

TEST(TileBuilder, ASpanThatCrossesCellsCountsItsPartInEachAndBeginsInOne)
{
    Tiles tiles;
    tiles.builder.add(kLane, { W - 10, 2 * W + 30 }, SpanClass::Compute);
    tiles.flush();

    EXPECT_EQ(tiles.at(0, 0).busyNs, 10);
    EXPECT_EQ(tiles.at(0, 0).count, 1);
    EXPECT_EQ(tiles.at(0, 0).longestEndNs, 2 * W + 30);
    EXPECT_EQ(tiles.at(0, 1).busyNs, W);
    EXPECT_EQ(tiles.at(0, 1).count, 0);
    EXPECT_EQ(ofClass(tiles.at(0, 2), SpanClass::Compute), 30);
    // One level up all of it lies in cell 0, which is four cells wide.
    EXPECT_EQ(tiles.at(1, 0).busyNs, W + 40);
    EXPECT_EQ(tiles.at(1, 0).count, 1);
}

TEST(TileBuilder, EveryLevelHoldsTheSameTimeAndCount)
{
    Tiles tiles;
    for (std::int64_t i = 0; i < 5000; ++i) {
        tiles.builder.add(kLane, { i * W / 3, i * W / 3 + 1000 }, i % 2 ? SpanClass::Compute : SpanClass::Bubble);
        if (i % 700 == 0)
            tiles.flush();
    }
    tiles.flush();
    for (int level = 0; level < kTileLevels; ++level) {
        EXPECT_EQ(tiles.busyNs(level), 5'000'000) << level;
        EXPECT_EQ(tiles.count(level), 5000) << level;
    }
}

TEST(TileBuilder, SpansOutOfOrderGiveTheSameTilesAsThoseInOrder)
{
    // 7 and 1000 share no factor: each of 1000 places comes once, seldom beside the one before.
    const auto spanAt = [](std::int64_t place) { return Window{ place * W / 2, place * W / 2 + 300 + place % 50 }; };
    Tiles inOrder, shuffled;
    for (std::int64_t i = 0; i < 1000; ++i) {
        inOrder.builder.add(kLane, spanAt(i), SpanClass::Compute);
        shuffled.builder.add(kLane, spanAt(i * 7 % 1000), SpanClass::Compute);
        if (i == 400)
            shuffled.flush();
    }
    inOrder.flush();
    shuffled.flush();
    ASSERT_EQ(shuffled.stored.size(), inOrder.stored.size());
    for (const auto& [key, tile] : inOrder.stored) {
        const Tile& other = shuffled.stored.at(key);
        EXPECT_EQ(other.count, tile.count);
        EXPECT_EQ(other.busyNs, tile.busyNs);
        EXPECT_EQ(other.classNs, tile.classNs);
        EXPECT_EQ(other.longestEndNs - other.longestBeginNs, tile.longestEndNs - tile.longestBeginNs);
    }
}

TEST(TileBuilder, ARangeAroundOthersAddsItsOwnTimeOnly)
{
    Tiles tiles;
    tiles.builder.add(kLane, { 100, 200 }, SpanClass::Data);
    tiles.builder.add(kLane, { 50, 300 }, SpanClass::Host);
    tiles.flush();
    EXPECT_EQ(tiles.at(0, 0).busyNs, 250);
    EXPECT_EQ(ofClass(tiles.at(0, 0), SpanClass::Data), 100);
    EXPECT_EQ(ofClass(tiles.at(0, 0), SpanClass::Host), 150);
    EXPECT_EQ(tiles.at(0, 0).longestClass, SpanClass::Host);
}

TEST(TileBuilder, WhatIsPutOfAClosedLaneStaysAndOtherLanesGoOn)
{
    constexpr LaneId kOther{ 2 };
    Tiles tiles;
    tiles.builder.add(kLane, { 0, 100 }, SpanClass::Host);
    tiles.builder.add(kOther, { 0, 100 }, SpanClass::Host);
    tiles.flush();
    tiles.builder.close(kLane);
    tiles.builder.add(kOther, { 50, 300 }, SpanClass::Host);
    tiles.flush();
    EXPECT_EQ(tiles.at(0, 0).busyNs, 100);
    EXPECT_EQ(tiles.stored.at({ kOther, 0, 0 }).busyNs, 300);
}

TEST(TileBuilder, ALateSpanChangesTilesThatAreNoLongerInMemory)
{
    Tiles tiles;
    for (std::int64_t i = 0; i < 2000; ++i) {
        tiles.builder.add(kLane, { i * W, i * W + 500 }, SpanClass::Host);
        tiles.flush();
    }
    EXPECT_EQ(tiles.loads, 0);
    // Around cells 3 and 4: its own time is what lies between their spans.
    tiles.builder.add(kLane, { 3 * W, 5 * W }, SpanClass::Host);
    tiles.flush();
    EXPECT_EQ(tiles.at(0, 3).busyNs, W);
    EXPECT_EQ(tiles.at(0, 3).count, 2);
    EXPECT_EQ(tiles.at(0, 4).busyNs, W);
    EXPECT_EQ(tiles.at(0, 4).count, 1);
    EXPECT_EQ(tiles.at(0, 5).busyNs, 500);
    EXPECT_EQ(tiles.busyNs(0), tiles.busyNs(5));
    EXPECT_EQ(tiles.count(0), tiles.count(5));
}

TEST(TileBuilder, AVeryLongSpanFillsItsCellsAndLeavesThoseThatWereTouchedIntact)
{
    Tiles tiles;
    tiles.builder.add(kLane, { 500 * W + 10, 500 * W + 20 }, SpanClass::Data);
    tiles.builder.add(kLane, { W / 2, 1000 * W + 5 }, SpanClass::Start);
    tiles.flush();
    EXPECT_EQ(tiles.at(0, 0).busyNs, W / 2);
    EXPECT_EQ(tiles.at(0, 700).busyNs, W);
    EXPECT_EQ(ofClass(tiles.at(0, 500), SpanClass::Data), 10);
    EXPECT_EQ(ofClass(tiles.at(0, 500), SpanClass::Start), W - 10);
    EXPECT_EQ(tiles.at(0, 1000).busyNs, 5);
    for (int level = 0; level < kTileLevels; ++level) {
        EXPECT_EQ(tiles.busyNs(level), 1000 * W + 5 - W / 2) << level;
        EXPECT_EQ(tiles.count(level), 2) << level;
    }
    // A span inside, later: begins in a cell that nobody gathered.
    tiles.builder.add(kLane, { 800 * W + 1, 800 * W + 2 }, SpanClass::Data);
    tiles.flush();
    EXPECT_EQ(tiles.at(0, 800).busyNs, W);
    EXPECT_EQ(tiles.at(0, 800).count, 1);
}

TEST(TileBuilder, ASpanOfAWholeYearIsLeftOutWhereItWouldFillTheDisk)
{
    constexpr std::int64_t kYearNs = 31'536'000'000'000'000;
    TileBuilder builder([](LaneId, int, Window) -> Result<std::vector<Tile>> { return std::vector<Tile>(); });
    builder.add(kLane, { 0, kYearNs }, SpanClass::Start);
    std::int64_t tiles = 0, coarsestNs = 0;
    const Status done = builder.flush([&](std::span<const Tile> some) -> Status {
        tiles += static_cast<std::int64_t>(some.size());
        for (const Tile& tile : some)
            coarsestNs += tile.level == kTileLevels - 1 ? tile.busyNs : 0;
        return Done{};
    });
    ASSERT_TRUE(done);
    EXPECT_EQ(coarsestNs, kYearNs);
    // No level has more than kMostPlainTiles, and each coarser one has a quarter.
    EXPECT_LT(tiles, 2 * kMostPlainTiles);
}

TEST(TileBuilder, WaitAndTransferStandSideBySide)
{
    Tiles tiles;
    const TileBuilder::Part split[]{ { { 100, 150 }, SpanClass::Wait }, { { 150, 170 }, SpanClass::Transfer } };
    tiles.builder.add(kLane, { 100, 170 }, SpanClass::Wait, split);
    tiles.flush();
    EXPECT_EQ(ofClass(tiles.at(0, 0), SpanClass::Wait), 50);
    EXPECT_EQ(ofClass(tiles.at(0, 0), SpanClass::Transfer), 20);
}

TEST(TileBuilder, CellsBeforeTheOriginCountDownwards)
{
    Tiles tiles;
    tiles.builder.add(kLane, { -10, 5 }, SpanClass::Compute);
    tiles.flush();
    EXPECT_EQ(tiles.at(0, -1).busyNs, 10);
    EXPECT_EQ(tiles.at(0, 0).busyNs, 5);
    EXPECT_EQ(tiles.at(3, -1).count, 1);
}

} // namespace rankscope::tracing
