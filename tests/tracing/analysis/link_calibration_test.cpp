#include "tracing/analysis/link_calibration.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

// Of three ranks: a ring forward, its second link slow, and one way back.
const std::vector<LinkSpeed> kLinks{ { 0, 1, 1000, 4'000'000'000 }, { 1, 2, 5000, 1'000'000'000 },
    { 2, 0, 2000, 2'000'000'000 }, { 1, 0, 7000, 500'000'000 } };

ledger::Instance collective(CollectiveOp op, std::vector<std::int32_t> members, std::int64_t communicator = 1)
{
    ledger::Instance instance;
    instance.communicator = communicator;
    instance.op = op;
    instance.members = std::move(members);
    return instance;
}

} // namespace

TEST(LinkCalibration, ARingIsAsSlowAsItsSlowestLink)
{
    const auto ring = LinkCalibration(kLinks).of(collective(CollectiveOp::AllReduce, { 0, 1, 2 }));
    ASSERT_TRUE(ring);
    EXPECT_EQ(ring->alpha, 5000);
    EXPECT_EQ(ring->busbwBytesPerSecond, 1'000'000'000);
}

TEST(LinkCalibration, AMessageHasItsOwnLink)
{
    ledger::Instance message = collective(CollectiveOp::Send, { 1, 0 });
    message.source = 1;
    message.destination = 0;
    const auto link = LinkCalibration(kLinks).of(message);
    ASSERT_TRUE(link);
    EXPECT_EQ(link->alpha, 7000);
    EXPECT_EQ(link->busbwBytesPerSecond, 500'000'000);
}

TEST(LinkCalibration, ABroadcastGoesFromItsRoot)
{
    ledger::Instance broadcast = collective(CollectiveOp::Broadcast, { 0, 1 });
    broadcast.root = 0;
    EXPECT_EQ(LinkCalibration(kLinks).of(broadcast)->alpha, 1000);
}

TEST(LinkCalibration, WhatWasNotMeasuredIsUnknown)
{
    LinkCalibration links(kLinks);
    EXPECT_FALSE(links.of(collective(CollectiveOp::AllToAll, { 0, 1, 2 }, 1))) << "0 to 2";
    EXPECT_FALSE(links.of(collective(CollectiveOp::AllReduce, { 0, 3 }, 2)));
    EXPECT_FALSE(links.of(collective(CollectiveOp::AllReduce, { 0 }, 3))) << "alone";
    EXPECT_FALSE(LinkCalibration({}).of(collective(CollectiveOp::AllReduce, { 0, 1 })));
}

} // namespace rankscope::tracing
