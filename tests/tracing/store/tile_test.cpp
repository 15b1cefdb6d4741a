#include "tests/tracing/store/store_fixture.h"

#include "tracing/store/tile_codec.h"

namespace rankscope::tracing {

namespace {

Tile emptyTile(int level, std::int64_t index)
{
    Tile tile;
    tile.lane = LaneId{ 1 };
    tile.level = level;
    tile.index = index;
    return tile;
}

/// A cell that one span of a class covers without beginning there.
Tile coveredTile(int level, std::int64_t index, SpanClass by)
{
    Tile tile = emptyTile(level, index);
    tile.busyNs = tileWidthNs(level);
    tile.classNs[static_cast<std::size_t>(by)] = tile.busyNs;
    return tile;
}

Tile mixedTile(int level, std::int64_t index)
{
    Tile tile = emptyTile(level, index);
    tile.count = 300;
    tile.busyNs = 1000;
    tile.classNs[static_cast<std::size_t>(SpanClass::Compute)] = 900;
    tile.classNs[static_cast<std::size_t>(SpanClass::Imbalance)] = 150; // spans may overlap
    tile.longestBeginNs = index * tileWidthNs(level) + 17;
    tile.longestEndNs = tile.longestBeginNs + 5'000'000;
    tile.longestClass = SpanClass::Bubble;
    return tile;
}

void expectSame(const Tile& a, const Tile& b)
{
    EXPECT_EQ(a.lane, b.lane);
    EXPECT_EQ(a.level, b.level);
    EXPECT_EQ(a.index, b.index);
    EXPECT_EQ(a.count, b.count);
    EXPECT_EQ(a.busyNs, b.busyNs);
    EXPECT_EQ(a.classNs, b.classNs);
    EXPECT_EQ(a.longestBeginNs, b.longestBeginNs);
    EXPECT_EQ(a.longestEndNs, b.longestEndNs);
    EXPECT_EQ(a.longestClass, b.longestClass);
}

void expectSame(const std::vector<Tile>& a, const std::vector<Tile>& b)
{
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        expectSame(a[i], b[i]);
}

} // namespace

TEST(TileCodec, GivesBackEveryKindOfCell)
{
    std::vector<Tile> cells{ mixedTile(2, 64), emptyTile(2, 66), coveredTile(2, 70, SpanClass::Imbalance) };
    for (std::int64_t i = 71; i < 90; ++i)
        cells.push_back(coveredTile(2, i, SpanClass::Compute));
    cells.push_back(mixedTile(2, 95));
    const std::string bytes = encodeTiles(cells);
    auto back = decodeTiles(LaneId{ 1 }, 2, 64, bytes);
    ASSERT_TRUE(back);
    expectSame(*back, cells);
}

TEST(TileCodec, CellsInTheMiddleOfALongSpanCostNextToNothing)
{
    std::vector<Tile> cells;
    for (std::int64_t i = 0; i < 32; ++i)
        cells.push_back(coveredTile(0, i, SpanClass::Compute));
    EXPECT_EQ(encodeTiles(cells).size(), 3u) << "gap, flags, 31 more";
}

TEST(TileCodec, DamagedBytesAreRefusedNeverRead)
{
    const std::string good
        = encodeTiles(std::vector<Tile>{ mixedTile(3, 0), coveredTile(3, 1, SpanClass::Wait), mixedTile(3, 31) });
    for (std::size_t length = 0; length < good.size(); ++length) {
        if (auto cells = decodeTiles(LaneId{ 1 }, 3, 0, std::string_view(good).substr(0, length))) {
            EXPECT_LT(cells->size(), 3u);
        }
    }
    for (std::size_t place = 0; place < good.size(); ++place) {
        for (int value = 0; value < 256; ++value) {
            std::string bad = good;
            bad[place] = static_cast<char>(value);
            if (auto cells = decodeTiles(LaneId{ 1 }, 3, 0, bad)) {
                EXPECT_LE(cells->size(), 32u);
            }
        }
    }
    EXPECT_FALSE(decodeTiles(LaneId{ 1 }, 12, 0, good)) << "no such level";
    EXPECT_FALSE(decodeTiles(LaneId{ 1 }, 0, 0, std::string("\x20\x00", 2))) << "beyond the row's 32 cells";
}

using Tiles = StoreTest;

TEST_F(Tiles, AWindowGivesTheCellsThatItTouches)
{
    auto writer = create();
    const LaneId lane = computeLane(writer);
    std::vector<Tile> tiles;
    for (const std::int64_t index : { -1, 0, 5, 40, 100 })
        tiles.push_back(mixedTile(0, index));
    tiles.push_back(mixedTile(1, 0));
    for (Tile& tile : tiles)
        tile.lane = lane;
    ASSERT_TRUE(writer.putTiles(tiles));

    auto reader = read();
    // Level 0: cells of 65536 ns. [65536 * 5 + 1, 65536 * 40] touches cells 5 and (by its last ns) not 40.
    const auto some = *reader.tiles(lane, 0, { kTileBaseNs * 5 + 1, kTileBaseNs * 40 });
    ASSERT_EQ(some.size(), 1u);
    expectSame(some[0], tiles[2]);
    expectSame(*reader.tiles(lane, 0, { -1, kTileBaseNs * 101 }), std::vector<Tile>(tiles.begin(), tiles.begin() + 5));
    expectSame(*reader.tiles(lane, 1, { 0, 1 }), { tiles[5] });
    EXPECT_TRUE(reader.tiles(lane, 2, kAlways)->empty());
}

TEST_F(Tiles, TheWriterReadsWhatItPutBeforeItIsCommitted)
{
    auto writer = create();
    const LaneId lane = computeLane(writer);
    ASSERT_TRUE(writer.begin());
    std::vector<Tile> row{ mixedTile(1, 30), mixedTile(1, 31) }, growing{ mixedTile(1, 33) };
    for (Tile* tile : { &row[0], &row[1], &growing[0] })
        tile->lane = lane;
    ASSERT_TRUE(writer.putTileRow(row));
    ASSERT_TRUE(writer.putTiles(growing));
    const std::int64_t width = tileWidthNs(1);
    const auto some = writer.tiles(lane, 1, { 31 * width, 34 * width });
    ASSERT_TRUE(some);
    expectSame(*some, { row[1], growing[0] });
    EXPECT_TRUE(writer.tiles(lane, 2, { 0, 34 * width })->empty());
    ASSERT_TRUE(writer.commit());
}

TEST_F(Tiles, ALaterCellReplacesTheEarlierAlsoInAnOldRowAndAfterResume)
{
    LaneId lane{};
    Tile tile = mixedTile(0, 3);
    {
        auto writer = create();
        lane = computeLane(writer);
        ASSERT_TRUE(writer.begin());
        tile.lane = lane;
        ASSERT_TRUE(writer.putTiles(std::span(&tile, 1)));
        Tile later = mixedTile(0, 4000);
        later.lane = lane;
        ASSERT_TRUE(writer.putTiles(std::span(&later, 1)));
        tile.count = 301; // the row of cell 3 is no longer in memory
        ASSERT_TRUE(writer.putTiles(std::span(&tile, 1)));
        ASSERT_TRUE(writer.commit());
    }
    auto writer = std::move(*TraceWriter::open(path_, TraceWriter::Mode::Resume));
    Tile beside = mixedTile(0, 4);
    beside.lane = lane;
    ASSERT_TRUE(writer.putTiles(std::span(&beside, 1)));
    auto reader = read();
    expectSame(*reader.tiles(lane, 0, { 0, kTileBaseNs * 100 }), { tile, beside });
}

TEST_F(Tiles, AWholeRowReplacesWhatWasThereAlsoAfterResumeAndBesidesSingleCells)
{
    LaneId lane{};
    const auto cell = [&](std::int64_t index, std::int32_t count) {
        Tile tile = mixedTile(0, index);
        tile.lane = lane;
        tile.count = count;
        return tile;
    };
    const auto putRow = [](TraceWriter& writer, std::vector<Tile> cells) { return writer.putTileRow(cells); };
    {
        auto writer = create();
        lane = computeLane(writer);
        // Rows 0, 3 and 1 (cells 0, 96 and 32 on), then the newest and an older one again.
        ASSERT_TRUE(putRow(writer, { cell(1, 10), cell(2, 20) }));
        ASSERT_TRUE(putRow(writer, { cell(100, 30) }));
        ASSERT_TRUE(putRow(writer, { cell(40, 40) }));
        ASSERT_TRUE(putRow(writer, { cell(40, 41), cell(41, 42) }));
        ASSERT_TRUE(putRow(writer, { cell(1, 11) }));
        const Tile single = cell(101, 31);
        ASSERT_TRUE(writer.putTiles(std::span(&single, 1)));
    }
    auto writer = std::move(*TraceWriter::open(path_, TraceWriter::Mode::Resume));
    // An older row first: that the newest is in the file must not be forgotten for it.
    const Tile early = cell(2, 21);
    ASSERT_TRUE(writer.putTiles(std::span(&early, 1)));
    const Tile late = cell(102, 32);
    ASSERT_TRUE(writer.putTiles(std::span(&late, 1)));
    ASSERT_TRUE(putRow(writer, { cell(40, 43) }));
    ASSERT_TRUE(putRow(writer, { cell(200, 50) }));
    auto reader = read();
    expectSame(*reader.tiles(lane, 0, { 0, kTileBaseNs * 300 }),
        { cell(1, 11), cell(2, 21), cell(40, 43), cell(100, 30), cell(101, 31), cell(102, 32), cell(200, 50) });
}

} // namespace rankscope::tracing
