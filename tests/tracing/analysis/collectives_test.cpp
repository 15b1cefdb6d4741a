#include "tracing/analysis/collectives.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

SplitPart part(std::int32_t rank, std::int64_t instance, Window window, std::int64_t splitNs, std::int64_t bytes)
{
    SplitPart result;
    result.rank = rank;
    result.beginNs = window.beginNs;
    result.endNs = window.endNs;
    result.splitNs = splitNs;
    result.isSplit = true;
    result.op = CollectiveOp::AllReduce;
    result.dimension = Dimension::Data;
    result.instance = InstanceId{ instance };
    result.bytes = bytes;
    return result;
}

CollectiveMatch match(std::int64_t instance, Window wire, int ranks, std::int32_t late)
{
    CollectiveMatch result;
    result.id = InstanceId{ instance };
    result.op = CollectiveOp::AllReduce;
    result.partsPresent = result.partsExpected = ranks;
    result.lastEntryNs = wire.beginNs;
    result.lastExitNs = wire.endNs;
    result.lateRank = late;
    return result;
}

} // namespace

TEST(BusBandwidth, AllReduceOnFourRanksCarriesOneAndAHalfTimesTheBuffer)
{
    // 1 GB in 10 ms is 100 GB/s of algorithm bandwidth; times 2*(4-1)/4.
    EXPECT_DOUBLE_EQ(busBandwidthGBps(CollectiveOp::AllReduce, 1'000'000'000, 10'000'000, 4), 150);
}

TEST(BusBandwidth, FollowsTheFactorsOfNcclTests)
{
    // 1000 bytes in 100 ns are 10 GB/s.
    EXPECT_DOUBLE_EQ(busBandwidthGBps(CollectiveOp::ReduceScatter, 1000, 100, 5), 8);
    EXPECT_DOUBLE_EQ(busBandwidthGBps(CollectiveOp::AllGather, 1000, 100, 5), 8);
    EXPECT_DOUBLE_EQ(busBandwidthGBps(CollectiveOp::AllToAll, 1000, 100, 5), 8);
    EXPECT_DOUBLE_EQ(busBandwidthGBps(CollectiveOp::Broadcast, 1000, 100, 5), 10);
    EXPECT_DOUBLE_EQ(busBandwidthGBps(CollectiveOp::Send, 1000, 100, 2), 10);
    EXPECT_DOUBLE_EQ(busBandwidthGBps(CollectiveOp::AllReduce, 1000, 100, 1), 0);
    EXPECT_DOUBLE_EQ(busBandwidthGBps(CollectiveOp::AllReduce, 1000, 0, 2), 0);
}

TEST(CollectiveTable, CountsWireTimeAndNotWaiting)
{
    // Rank 1 enters 900 ns late; the wire takes 100 ns for 1000 bytes: 10 GB/s, not 1.
    const std::vector<SplitPart> parts{ part(0, 1, { 0, 1000 }, 900, 1000), part(1, 1, { 900, 1000 }, 900, 1000) };
    const std::vector<CollectiveMatch> matches{ match(1, { 900, 1000 }, 2, 1) };
    const auto rows = collectiveTable(parts, matches, { 0, 2000 });
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].count, 1);
    EXPECT_EQ(rows[0].bytes, 1000);
    EXPECT_EQ(rows[0].waitNs, 900);
    EXPECT_EQ(rows[0].transferNs, 200);
    EXPECT_EQ(rows[0].wireNs, 100);
    EXPECT_DOUBLE_EQ(rows[0].algbwGBps, 10);
    EXPECT_DOUBLE_EQ(rows[0].busbwGBps, 10);
    EXPECT_EQ(rows[0].lateRank, 1);
    EXPECT_EQ(rows[0].lateCount, 1);
}

TEST(CollectiveTable, NamesTheRankThatWasWaitedForLongestNotMostOften)
{
    // Rank 0 is late twice by 10 ns, rank 1 once by 500 ns.
    const std::vector<SplitPart> parts{ part(1, 1, { 0, 20 }, 10, 8), part(1, 2, { 100, 120 }, 110, 8),
        part(0, 3, { 200, 710 }, 700, 8) };
    const std::vector<CollectiveMatch> matches{ match(1, { 10, 20 }, 2, 0), match(2, { 110, 120 }, 2, 0),
        match(3, { 700, 710 }, 2, 1) };
    const auto rows = collectiveTable(parts, matches, { 0, 1000 });
    EXPECT_EQ(rows[0].lateRank, 1);
    EXPECT_EQ(rows[0].waitForLateNs, 500);
    EXPECT_EQ(rows[0].lateCount, 1);
}

TEST(CollectiveTable, ASendAndItsReceiveAreOneInstance)
{
    std::vector<SplitPart> parts{ part(0, 1, { 0, 10 }, 0, 64), part(1, 1, { 0, 12 }, 0, 64) };
    parts[0].op = CollectiveOp::Send;
    parts[1].op = CollectiveOp::Receive;
    parts[0].dimension = parts[1].dimension = Dimension::Pipeline;
    const auto rows = collectiveTable(parts, std::vector{ match(1, { 0, 12 }, 2, 0) }, { 0, 100 });
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].op, CollectiveOp::Send);
    EXPECT_EQ(rows[0].count, 1);
    EXPECT_EQ(rows[0].bytes, 64);
}

TEST(CollectiveTable, LeavesOutWhatLiesOutsideTheWindow)
{
    EXPECT_TRUE(collectiveTable(std::vector{ part(0, 1, { 0, 10 }, 0, 8) }, {}, { 10, 20 }).empty());
}

} // namespace rankscope::tracing
