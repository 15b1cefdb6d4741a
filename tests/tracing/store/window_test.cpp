#include "tests/tracing/store/store_fixture.h"

#include "tracing/store/blocks.h"

namespace rankscope::tracing {

using WindowQuery = StoreTest;

TEST_F(WindowQuery, IntervalsAreHalfOpenAndARowOfNoLengthCountsWhereItStands)
{
    auto writer = create();
    const LaneId lane = computeLane(writer);
    const std::vector<Kernel> rows{ kernelAt(0, 10), kernelAt(10, 20), kernelAt(20, 20), kernelAt(20, 30),
        kernelAt(30, 40) };
    ASSERT_TRUE(writer.append(lane, std::span<const Kernel>(rows)));
    auto reader = read();
    EXPECT_EQ(beginsOf(*reader.kernels(lane, { 10, 20 })), (std::vector<std::int64_t>{ 10 }));
    EXPECT_EQ(beginsOf(*reader.kernels(lane, { 20, 21 })), (std::vector<std::int64_t>{ 20, 20 }));
    EXPECT_EQ(beginsOf(*reader.kernels(lane, { 9, 31 })), (std::vector<std::int64_t>{ 0, 10, 20, 20, 30 }));
    EXPECT_TRUE(reader.kernels(lane, { 40, 50 })->empty());
    EXPECT_TRUE(reader.kernels(lane, { 15, 15 })->empty()) << "an empty window";
}

TEST_F(WindowQuery, FindsALongSpanThatBeganManyBlocksBefore)
{
    // Rows i = 1 .. 4999 are [10 i, 10 i + 5). Row 0 is [0, 100000), written in the first of twenty blocks of 256; the
    // window [30000, 30020) holds rows 3000 and 3001 and touches row 0.
    auto writer = create();
    const LaneId lane = computeLane(writer);
    std::vector<Kernel> rows{ kernelAt(0, 100'000) };
    for (std::int64_t i = 1; i < 5000; ++i)
        rows.push_back(kernelAt(10 * i, 10 * i + 5));
    ASSERT_TRUE(writer.append(lane, std::span<const Kernel>(rows)));
    auto reader = read();
    EXPECT_EQ(beginsOf(*reader.kernels(lane, { 30'000, 30'020 })), (std::vector<std::int64_t>{ 0, 30'000, 30'010 }));
    EXPECT_EQ(beginsOf(*reader.kernels(lane, { 99'000, 99'010 })), (std::vector<std::int64_t>{ 0 }));
    EXPECT_TRUE(reader.kernels(lane, { 100'000, 200'000 })->empty());
    EXPECT_EQ(*reader.window(), (Window{ 0, 100'000 }));
}

TEST_F(WindowQuery, ParentsWrittenAfterTheirChildrenComeFirst)
{
    auto writer = create();
    const LaneId lane = computeLane(writer);
    const std::vector<Range> children{ { {}, 10, 20, {}, RangeKind::Forward, 1, 0, {}, {} },
        { {}, 20, 30, {}, RangeKind::Backward, 1, 0, {}, {} } };
    const std::vector<Range> parent{ { {}, 10, 40, {}, RangeKind::Step, 0, 0, {}, {} } };
    ASSERT_TRUE(writer.append(lane, std::span<const Range>(children)));
    ASSERT_TRUE(writer.append(lane, std::span<const Range>(parent)));
    auto reader = read();
    const auto ranges = *reader.ranges(lane, { 12, 13 });
    ASSERT_EQ(ranges.size(), 2u);
    EXPECT_EQ(ranges[0].kind, RangeKind::Step);
    EXPECT_EQ(ranges[1].kind, RangeKind::Forward);
}

TEST_F(WindowQuery, LanesThatShareATableAreKeptApart)
{
    // Runs of three rows in turns: one block a lane stretches over the rows of both.
    auto writer = create();
    const LaneId first = computeLane(writer, 0);
    const LaneId second = computeLane(writer, 1);
    for (std::int64_t run = 0; run < 50; ++run) {
        const std::vector<Kernel> rows{ kernelAt(30 * run, 30 * run + 10), kernelAt(30 * run + 10, 30 * run + 20),
            kernelAt(30 * run + 20, 30 * run + 30) };
        ASSERT_TRUE(writer.append(first, std::span<const Kernel>(rows)));
        ASSERT_TRUE(writer.append(second, std::span<const Kernel>(rows)));
    }
    auto reader = read();
    const auto kernels = *reader.kernels(second, { 300, 330 });
    EXPECT_EQ(beginsOf(kernels), (std::vector<std::int64_t>{ 300, 310, 320 }));
    for (const Kernel& kernel : kernels)
        EXPECT_EQ(kernel.lane, second);
    EXPECT_EQ(reader.kernels(first, kAlways)->size(), 150u);
    EXPECT_EQ(reader.counts()->at("kernel"), 300);
}

TEST_F(WindowQuery, SeesRowsThatArriveInAGrowingBlock)
{
    auto writer = create();
    const LaneId lane = computeLane(writer);
    auto reader = read();
    EXPECT_TRUE(reader.kernels(lane, kAlways)->empty());
    for (std::int64_t i = 0; i < 5; ++i) {
        const std::int64_t before = *reader.dataVersion();
        EXPECT_EQ(*reader.dataVersion(), before) << "nothing was committed";
        const std::vector<Kernel> rows{ kernelAt(10 * i, 10 * i + 5) };
        ASSERT_TRUE(writer.append(lane, std::span<const Kernel>(rows)));
        EXPECT_GT(*reader.dataVersion(), before);
        EXPECT_EQ(reader.kernels(lane, kAlways)->size(), static_cast<std::size_t>(i + 1));
        EXPECT_EQ(reader.latestEnds()->at(lane), 10 * i + 5);
    }
}

TEST_F(WindowQuery, MatchesAreFoundAlsoWhenALateRankStretchedThem)
{
    auto writer = create();
    for (std::int64_t id = 1; id <= 1000; ++id)
        ASSERT_TRUE(writer.putMatch(
            { InstanceId{ id }, {}, CollectiveOp::AllReduce, id, 1, 2, 100 * id, 100 * id, 100 * id + 50, {} }));
    auto reader = read();
    EXPECT_EQ(reader.matches({ 50'000, 50'100 })->size(), 1u);
    ASSERT_TRUE(writer.putMatch({ InstanceId{ 3 }, {}, CollectiveOp::AllReduce, 3, 2, 2, 300, 60'000, 60'010, 1 }));
    const auto matches = *reader.matches({ 50'000, 50'100 });
    ASSERT_EQ(matches.size(), 2u);
    EXPECT_EQ(matches[0].id, InstanceId{ 3 });
    EXPECT_EQ(matches[1].id, InstanceId{ 500 });
}

TEST_F(WindowQuery, PartsOfACollectiveComeFromAllItsRanks)
{
    auto writer = create();
    const CommunicatorId group = *writer.communicator({ {}, "dp", Dimension::Data, { 0, 1 } });
    for (int rank = 0; rank < 3; ++rank) {
        const LaneId lane = *writer.lane({ {}, rank, LaneKind::Communication, Dimension::Data, "dp", "" });
        std::vector<CollectivePart> parts;
        for (std::int64_t i = 0; i < 10; ++i)
            parts.push_back({ {}, 100 * i + rank, 100 * i + 50, {}, CollectiveOp::AllReduce, InstanceId{ i }, 8, {}, {},
                {}, {}, {} });
        ASSERT_TRUE(writer.append(lane, std::span<const CollectivePart>(parts)));
    }
    ASSERT_TRUE(writer.putMatch({ InstanceId{ 4 }, group, CollectiveOp::AllReduce, 4, 2, 2, 400, 401, 450, 1 }));
    auto reader = read();
    const auto parts = *reader.partsOf(InstanceId{ 4 });
    ASSERT_EQ(parts.size(), 2u) << "rank 2 is no member";
    EXPECT_EQ(parts[0].beginNs, 400);
    EXPECT_EQ(parts[1].beginNs, 401);
    EXPECT_EQ(reader.partsOf(InstanceId{ 5 })->size(), 3u) << "without a match every lane is looked at";
}

TEST_F(WindowQuery, AVisitGivesEachRowOnceInOrderOfBegin)
{
    // 40000 rows in runs of 500, and a range over each 1000 of them that is written after they are.
    auto writer = create();
    const LaneId lane = computeLane(writer);
    ASSERT_TRUE(writer.begin());
    for (std::int64_t run = 0; run < 80; ++run) {
        std::vector<Range> rows;
        for (std::int64_t i = 500 * run; i < 500 * (run + 1); ++i)
            rows.push_back({ {}, 10 * i, 10 * i + 10, {}, RangeKind::Annotation, 1, i, {}, {} });
        if (run % 2 == 1)
            rows.push_back({ {}, 5000 * (run - 1), 5000 * (run + 1), {}, RangeKind::Step, 0, {}, {}, {} });
        ASSERT_TRUE(writer.append(lane, std::span<const Range>(rows)));
    }
    ASSERT_TRUE(writer.commit());

    auto reader = read();
    std::int64_t rows = 0;
    std::int64_t last = -1;
    bool inOrder = true;
    std::int64_t chunks = 0;
    ASSERT_TRUE(reader.visit<Range>(lane, kAlways, [&](std::span<const Range> chunk) {
        ++chunks;
        for (const Range& range : chunk) {
            inOrder = inOrder && range.beginNs >= last;
            last = range.beginNs;
            ++rows;
        }
        return true;
    }));
    EXPECT_EQ(rows, 40'040);
    EXPECT_TRUE(inOrder);
    EXPECT_GT(chunks, 2);

    // [1000, 2000) holds rows 100 .. 199 and touches the first step.
    rows = 0;
    ASSERT_TRUE(reader.visit<Range>(lane, { 1000, 2000 }, [&](std::span<const Range> chunk) {
        rows += static_cast<std::int64_t>(chunk.size());
        return true;
    }));
    EXPECT_EQ(rows, 101);
    chunks = 0;
    ASSERT_TRUE(reader.visit<Range>(lane, kAlways, [&](std::span<const Range>) { return ++chunks < 1; }));
    EXPECT_EQ(chunks, 1) << "false stops";
}

TEST(Blocks, SplitALongRunAndMergeShortOnes)
{
    BlockBuilder builder;
    const std::vector<Kernel> many(600, kernelAt(5, 6));
    builder.add(LaneId{ 1 }, 1, std::span<const Kernel>(many));
    // 600 = 256 + 256 + 88.
    EXPECT_EQ(builder.takeChanged(),
        (std::vector<Block>{ { 1, BlockKind::Kernel, 1, 256, 256, 5, 6 }, { 1, BlockKind::Kernel, 257, 512, 256, 5, 6 },
            { 1, BlockKind::Kernel, 513, 600, 88, 5, 6 } }));
    EXPECT_TRUE(builder.takeChanged().empty());

    // Rows 601 and 602 are another lane's; 603 is near enough to grow the open block, 9000 is not.
    const std::vector<Kernel> one{ kernelAt(2, 9) };
    builder.add(LaneId{ 1 }, 603, std::span<const Kernel>(one));
    builder.add(LaneId{ 1 }, 9000, std::span<const Kernel>(one));
    EXPECT_EQ(builder.takeChanged(),
        (std::vector<Block>{
            { 1, BlockKind::Kernel, 513, 603, 89, 2, 9 }, { 1, BlockKind::Kernel, 9000, 9000, 1, 2, 9 } }));
}

TEST(Blocks, AWindowSkipsWhatEndsBeforeAndWhatBeginsAfter)
{
    BlockIndex index;
    const Block longFirst{ 1, BlockKind::Range, 1, 10, 10, 0, 500 };
    const Block second{ 1, BlockKind::Range, 11, 20, 10, 100, 200 };
    const Block third{ 1, BlockKind::Range, 21, 30, 10, 200, 300 };
    const Block fourth{ 1, BlockKind::Range, 31, 40, 10, 300, 400 };
    for (const Block& block : { longFirst, second, third, fourth })
        index.put(block);
    EXPECT_EQ(index.touching({ 210, 290 }), (std::vector<Block>{ longFirst, third }));
    EXPECT_EQ(index.touching({ 450, 460 }), (std::vector<Block>{ longFirst }));
    EXPECT_TRUE(index.touching({ 501, 600 }).empty());
    EXPECT_EQ(BlockIndex::leastBeginAfter(index.blocks())[0], 100);
    Block grown = fourth;
    grown.lastRow = 45;
    grown.endNs = 700;
    index.put(grown);
    EXPECT_EQ(index.touching({ 600, 601 }), (std::vector<Block>{ grown }));
}

} // namespace rankscope::tracing
