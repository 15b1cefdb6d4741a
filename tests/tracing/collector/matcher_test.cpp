#include "tracing/collector/matcher.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

constexpr CommunicatorId kWorld{ 3 };
constexpr LaneId kLane{ 1 };

MatchPart part(std::int32_t rank, Window window, CollectiveOp op = CollectiveOp::AllReduce,
    std::optional<std::int32_t> peer = std::nullopt)
{
    return { rank, kLane, window, op, peer };
}

struct Finished {
    std::vector<Matcher::Instance> instances;
    Matcher::Finished callback()
    {
        return [this](const Matcher::Instance& instance) { instances.push_back(instance); };
    }
};

} // namespace

TEST(Matcher, PartsOfOneSequenceNumberBecomeOneInstanceWithItsLateRank)
{
    Finished finished;
    Matcher matcher(finished.callback());
    const InstanceId first = matcher.add(kWorld, 12, 3, part(2, { 100, 205 }));
    EXPECT_EQ(matcher.add(kWorld, 12, 3, part(0, { 150, 200 })), first);
    EXPECT_NE(matcher.add(kWorld, 13, 3, part(0, { 300, 310 })), first);
    EXPECT_TRUE(finished.instances.empty());
    matcher.add(kWorld, 12, 3, part(1, { 120, 210 }));

    ASSERT_EQ(finished.instances.size(), 1u);
    const CollectiveMatch& match = finished.instances[0].match;
    EXPECT_EQ(match.partsPresent, 3);
    EXPECT_EQ(match.firstEntryNs, 100);
    EXPECT_EQ(match.lastEntryNs, 150);
    EXPECT_EQ(match.lastExitNs, 210);
    EXPECT_EQ(match.lateRank, 0);
    EXPECT_EQ(matcher.incomplete(), 1u);
}

TEST(Matcher, AmongEquallyLateRanksTheLowestIsNamed)
{
    Finished finished;
    Matcher matcher(finished.callback());
    matcher.add(kWorld, 1, 2, part(1, { 50, 60 }));
    matcher.add(kWorld, 1, 2, part(0, { 50, 60 }));
    EXPECT_EQ(finished.instances.at(0).match.lateRank, 0);
}

TEST(Matcher, ASendMeetsItsReceiveByDirectionAndNumber)
{
    Finished finished;
    Matcher matcher(finished.callback());
    const auto send = matcher.add(kWorld, 5, 2, part(0, { 0, 10 }, CollectiveOp::Send, 1));
    const auto otherWay = matcher.add(kWorld, 5, 2, part(1, { 0, 10 }, CollectiveOp::Send, 0));
    const auto receive = matcher.add(kWorld, 5, 2, part(1, { 5, 12 }, CollectiveOp::Receive, 0));
    EXPECT_EQ(send, receive);
    EXPECT_NE(send, otherWay);
    EXPECT_EQ(finished.instances.size(), 1u);
    EXPECT_EQ(finished.instances.at(0).match.op, CollectiveOp::Send);
}

TEST(Matcher, AMissingPartnerIsGivenUpInOrderSoThatMemoryIsBounded)
{
    Finished finished;
    Matcher matcher(finished.callback(), 10);
    for (int i = 0; i < 25; ++i)
        matcher.add(kWorld, i, 2, part(0, { i, i + 1 }));
    EXPECT_EQ(matcher.incomplete(), 10u);
    ASSERT_EQ(finished.instances.size(), 15u);
    EXPECT_EQ(finished.instances[14].match.sequence, 14);
    EXPECT_EQ(finished.instances[14].match.partsPresent, 1);
    EXPECT_EQ(finished.instances[14].match.lateRank, std::nullopt);
    // Ids begin at 1: 1 to 15 are given up.
    EXPECT_EQ(matcher.givenUpBelow(), InstanceId{ 16 });
    matcher.finish();
    EXPECT_EQ(finished.instances.size(), 25u);
}

TEST(Matcher, ARankThatCountsFromTheStartAgainBeginsANewInstance)
{
    Finished finished;
    Matcher matcher(finished.callback());
    const auto before = matcher.add(kWorld, 0, 2, part(0, { 0, 10 }));
    const auto after = matcher.add(kWorld, 0, 2, part(0, { 1000, 1010 }));
    EXPECT_NE(before, after);
    EXPECT_EQ(matcher.add(kWorld, 0, 2, part(1, { 1000, 1010 })), after);
}

TEST(Matcher, AnIncompleteInstanceGoesOnAfterARestart)
{
    Finished finished;
    Matcher matcher(finished.callback());
    const CollectiveMatch known{ InstanceId{ 7 }, kWorld, CollectiveOp::AllReduce, 12, 1, 2, 100, 100, 200, {} };
    matcher.restore(known, { part(0, { 100, 200 }) });
    matcher.setNextInstance(InstanceId{ 8 });
    EXPECT_TRUE(matcher.changes().empty());
    EXPECT_EQ(matcher.add(kWorld, 12, 2, part(1, { 150, 200 })), InstanceId{ 7 });
    ASSERT_EQ(finished.instances.size(), 1u);
    EXPECT_EQ(finished.instances[0].match.lateRank, 1);
}

TEST(Matcher, OnlyWhatChangedIsStoredAgain)
{
    Finished finished;
    Matcher matcher(finished.callback());
    matcher.add(kWorld, 1, 2, part(0, { 0, 1 }));
    matcher.add(kWorld, 2, 2, part(0, { 2, 3 }));
    matcher.add(kWorld, 1, 2, part(1, { 0, 1 }));
    EXPECT_EQ(matcher.changes().size(), 2u);
    EXPECT_TRUE(matcher.changes().empty());
    matcher.add(kWorld, 2, 2, part(1, { 2, 3 }));
    ASSERT_EQ(matcher.changes().size(), 1u);
}

TEST(PartSplit, EveryoneWaitsForTheLastEntryThenTransfers)
{
    const std::vector<MatchPart> parts{ part(0, { 100, 200 }), part(1, { 150, 210 }) };
    EXPECT_EQ(splitOf(parts[0], parts).transferBeginNs, 150);
    EXPECT_EQ(splitOf(parts[1], parts).transferBeginNs, 150);
}

TEST(PartSplit, OnlyTheRootOfABroadcastIsWaitedFor)
{
    const auto op = CollectiveOp::Broadcast;
    const std::vector<MatchPart> parts{ part(0, { 100, 200 }, op, 0), part(1, { 50, 220 }, op, 0),
        part(2, { 180, 230 }, op, 0) };
    EXPECT_EQ(splitOf(parts[0], parts).transferBeginNs, 100) << "the root waits for nobody";
    EXPECT_EQ(splitOf(parts[1], parts).transferBeginNs, 100);
    EXPECT_EQ(splitOf(parts[2], parts).transferBeginNs, 180);
}

TEST(PartSplit, AnEagerSenderDidNotWait)
{
    const std::vector<MatchPart> parts{ part(0, { 0, 10 }, CollectiveOp::Send, 1),
        part(1, { 50, 60 }, CollectiveOp::Receive, 0) };
    EXPECT_EQ(splitOf(parts[0], parts).transferBeginNs, 0);
    EXPECT_EQ(splitOf(parts[1], parts).transferBeginNs, 50);
}

TEST(PartSplit, WithoutAPartnerItIsNotKnown)
{
    const std::vector<MatchPart> parts{ part(0, { 0, 10 }) };
    EXPECT_FALSE(splitOf(parts[0], parts).known);
}

TEST(PartSplit, WhoLeavesBeforeTheLastEntryWaitedAllAlong)
{
    const std::vector<MatchPart> parts{ part(0, { 0, 10 }), part(1, { 50, 60 }) };
    EXPECT_EQ(splitOf(parts[0], parts).transferBeginNs, 10);
}

} // namespace rankscope::tracing
