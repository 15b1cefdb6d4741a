#include "tracing/analysis/run_rows.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

RankPart part(std::int32_t rank, CollectiveOp op, Window window, std::optional<std::int32_t> peer = std::nullopt)
{
    RankPart result;
    result.rank = rank;
    result.dimension = Dimension::Data;
    result.part.beginNs = window.beginNs;
    result.part.endNs = window.endNs;
    result.part.op = op;
    result.part.instance = InstanceId{ 1 };
    result.part.peer = peer;
    return result;
}

} // namespace

TEST(SplitParts, AllReduceWaitsUntilTheLastRankEnters)
{
    const auto split
        = splitParts({ part(0, CollectiveOp::AllReduce, { 100, 200 }), part(1, CollectiveOp::AllReduce, { 150, 205 }),
                         part(2, CollectiveOp::AllReduce, { 120, 203 }) },
            {});
    EXPECT_EQ(split[0].waitNs(), 50);
    EXPECT_EQ(split[0].transferNs(), 50);
    EXPECT_EQ(split[0].lateRank, 1);
    EXPECT_EQ(split[1].waitNs(), 0);
    EXPECT_EQ(split[1].transferNs(), 55);
    EXPECT_EQ(split[1].lateRank, std::nullopt);
    EXPECT_EQ(split[2].waitNs(), 30);
    EXPECT_EQ(split[2].transferNs(), 53);
}

TEST(SplitParts, TheMatchKnowsEntriesOfRanksThatAreNotLoaded)
{
    CollectiveMatch match;
    match.id = InstanceId{ 1 };
    match.partsPresent = 2;
    match.partsExpected = 2;
    match.lastEntryNs = 180;
    match.lateRank = 7;
    const auto split = splitParts({ part(0, CollectiveOp::AllReduce, { 100, 200 }) }, { match });
    EXPECT_EQ(split[0].waitNs(), 80);
    EXPECT_EQ(split[0].lateRank, 7);
}

TEST(SplitParts, APartWithoutAnyPartnerIsNotSplit)
{
    const auto split = splitParts({ part(0, CollectiveOp::AllReduce, { 100, 200 }) }, {});
    EXPECT_FALSE(split[0].isSplit);
    EXPECT_EQ(split[0].waitNs(), 0);
    EXPECT_EQ(split[0].transferNs(), 0);
}

TEST(SplitParts, AnEagerSenderDoesNotWait)
{
    // The sender left at 110, before the receiver came at 150.
    const auto split = splitParts(
        { part(0, CollectiveOp::Send, { 100, 110 }, 1), part(1, CollectiveOp::Receive, { 150, 160 }, 0) }, {});
    EXPECT_EQ(split[0].waitNs(), 0);
    EXPECT_EQ(split[0].transferNs(), 10);
    EXPECT_EQ(split[1].waitNs(), 0);
    EXPECT_EQ(split[1].transferNs(), 10);
}

TEST(SplitParts, AReceiverWaitsForItsSender)
{
    const auto split = splitParts(
        { part(0, CollectiveOp::Send, { 130, 140 }, 1), part(1, CollectiveOp::Receive, { 100, 150 }, 0) }, {});
    EXPECT_EQ(split[1].waitNs(), 30);
    EXPECT_EQ(split[1].transferNs(), 20);
    EXPECT_EQ(split[1].lateRank, 0);
}

TEST(SplitParts, BroadcastDependsOnItsRootAlone)
{
    // Rank 2 enters last, but nobody needs it; rank 0 is the root.
    const auto split = splitParts(
        { part(0, CollectiveOp::Broadcast, { 140, 160 }, 0), part(1, CollectiveOp::Broadcast, { 100, 170 }, 0),
            part(2, CollectiveOp::Broadcast, { 165, 175 }, 0) },
        {});
    EXPECT_EQ(split[0].waitNs(), 0);
    EXPECT_EQ(split[1].waitNs(), 40);
    EXPECT_EQ(split[1].lateRank, 0);
    EXPECT_EQ(split[2].waitNs(), 0);
}

TEST(SplitParts, OnlyTheRootOfAReduceWaits)
{
    const auto split = splitParts(
        { part(0, CollectiveOp::Reduce, { 100, 160 }, 0), part(1, CollectiveOp::Reduce, { 150, 155 }, 0) }, {});
    EXPECT_EQ(split[0].waitNs(), 50);
    EXPECT_EQ(split[1].waitNs(), 0);
}

TEST(SplitParts, LeavingBeforeTheLastEntryIsAllWait)
{
    // Clocks disagree: rank 0 leaves at 140, before rank 1 enters.
    const auto split = splitParts(
        { part(0, CollectiveOp::Barrier, { 100, 140 }), part(1, CollectiveOp::Barrier, { 150, 160 }) }, {});
    EXPECT_EQ(split[0].waitNs(), 40);
    EXPECT_EQ(split[0].transferNs(), 0);
}

TEST(SplitParts, PartsOfOneGroupLaunchShareTheLatestEntry)
{
    RankPart first = part(0, CollectiveOp::Receive, { 100, 200 }, 1);
    RankPart second = part(0, CollectiveOp::Receive, { 100, 200 }, 2);
    second.part.instance = InstanceId{ 2 };
    first.part.launchGroup = second.part.launchGroup = 5;
    RankPart sender1 = part(1, CollectiveOp::Send, { 120, 200 }, 0);
    RankPart sender2 = part(2, CollectiveOp::Send, { 170, 200 }, 0);
    sender2.part.instance = InstanceId{ 2 };
    const auto split = splitParts({ first, second, sender1, sender2 }, {});
    EXPECT_EQ(split[0].waitNs(), 70);
    EXPECT_EQ(split[0].lateRank, 2);
    EXPECT_EQ(split[1].waitNs(), 70);
}

} // namespace rankscope::tracing
