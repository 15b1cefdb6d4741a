#include "tracing/analysis/faster_links.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

using ledger::Ratio;

ledger::Instance message(std::int32_t from, std::int32_t to)
{
    ledger::Instance instance;
    instance.op = CollectiveOp::Send;
    instance.dimension = Dimension::Pipeline;
    instance.members = { from, to };
    instance.source = from;
    instance.destination = to;
    return instance;
}

ledger::Instance sum(Dimension dimension, std::vector<std::int32_t> members, std::int64_t communicator)
{
    ledger::Instance instance;
    instance.communicator = communicator;
    instance.op = CollectiveOp::AllReduce;
    instance.dimension = dimension;
    instance.members = std::move(members);
    return instance;
}

double valueOf(const Ratio& ratio)
{
    return static_cast<double>(ratio.numerator) / static_cast<double>(ratio.denominator);
}

} // namespace

TEST(FasterLinks, WhateverElseGoesOverAFasterLinkGainsAsWell)
{
    // A pipeline over ranks 0 and 1, both ways, and sums of no bytes to speak of: the norm's over these two, one of
    // replicas over 2 and 3, and one over all.
    ledger::LedgerInput input;
    input.instances = { message(0, 1), message(1, 0), sum(Dimension::Clip, { 0, 1 }, 2),
        sum(Dimension::Data, { 2, 3 }, 3), sum(Dimension::World, { 0, 1, 2, 3 }, 4) };
    const auto unknown = transfersOverFasterLinks(input, {}, Dimension::Pipeline, { 1, 4 });
    ASSERT_EQ(unknown.size(), 5u);
    EXPECT_DOUBLE_EQ(valueOf(unknown[0]), 0.25);
    EXPECT_DOUBLE_EQ(valueOf(unknown[1]), 0.25);
    EXPECT_DOUBLE_EQ(valueOf(unknown[2]), 0.25);
    EXPECT_DOUBLE_EQ(valueOf(unknown[3]), 1);
    EXPECT_DOUBLE_EQ(valueOf(unknown[4]), 1); // what its other links take is not known
    for (const Ratio& ratio : transfersOverFasterLinks(input, {}, std::nullopt, { 1, 4 }))
        EXPECT_DOUBLE_EQ(valueOf(ratio), 0.25);
    // The ring of all is as slow as 0 -> 1, of 8 us; then as 1 -> 2, of 4 us.
    const std::vector<LinkSpeed> links{ { 0, 1, 8000, 1'000'000'000 }, { 1, 2, 4000, 1'000'000'000 },
        { 2, 3, 1000, 1'000'000'000 }, { 3, 0, 1000, 1'000'000'000 }, { 1, 0, 1000, 1'000'000'000 } };
    EXPECT_DOUBLE_EQ(valueOf(transfersOverFasterLinks(input, links, Dimension::Pipeline, { 1, 4 })[4]), 0.5);
}

} // namespace rankscope::tracing
