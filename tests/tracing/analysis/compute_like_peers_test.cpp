#include "tracing/analysis/compute_like_peers.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

ledger::ComputeOp kernel(std::int64_t length, std::optional<std::int64_t> flop, Pass pass = Pass::Forward)
{
    ledger::ComputeOp op;
    op.end = length;
    op.pass = pass;
    op.flop = flop;
    return op;
}

std::vector<double> values(const std::vector<ledger::Ratio>& ratios)
{
    std::vector<double> result;
    for (const ledger::Ratio& ratio : ratios)
        result.push_back(static_cast<double>(ratio.numerator) / static_cast<double>(ratio.denominator));
    return result;
}

} // namespace

TEST(ComputeLikePeers, KernelsAreComparedWithThoseOfTheSameWork)
{
    // A stage that takes 300 for what takes the other one 100, and 30 for an embedding; the other one's loss takes 80.
    ledger::LedgerInput input;
    input.ranks.resize(2);
    input.ranks[0].compute = { kernel(30, 5), kernel(300, 1000), kernel(300, 1000), kernel(7, 9, Pass::Optimizer) };
    input.ranks[1].compute = { kernel(90, 1000), kernel(110, 1000), kernel(80, 700), kernel(3, 9, Pass::Optimizer) };
    const auto like = computeLikePeers(input, 0, { 1 });
    EXPECT_EQ(values(like[1]), (std::vector<double>{ 1, 1.0 / 3, 1.0 / 3, 1 }));
    EXPECT_EQ(values(like[0]), values(like[2]));
    // Three as many of them are not slower.
    input.ranks[0].compute = { kernel(100, 1000), kernel(100, 1000), kernel(100, 1000) };
    EXPECT_EQ(values(computeLikePeers(input, 0, { 1 })[1]), (std::vector<double>{ 1, 1, 1 }));
}

TEST(ComputeLikePeers, WhatDoesNotSayItsWorkIsComparedAsAWhole)
{
    // Work that the peer has not at all goes; of 60 that say nothing, the peer has 20.
    ledger::LedgerInput input;
    input.ranks.resize(3);
    input.ranks[0].compute = { kernel(50, 1000), kernel(40, {}), kernel(20, {}) };
    input.ranks[1].compute = { kernel(50, 1000), kernel(20, {}) };
    input.ranks[2].compute = { kernel(50, 1000) };
    const auto like = computeLikePeers(input, 0, { 1, 2 });
    EXPECT_EQ(values(like[0]), (std::vector<double>{ 1, 0, 0 })); // like rank 2
    EXPECT_EQ(values(like[2]), (std::vector<double>{ 1, 1.0 / 3, 1.0 / 3 }));
}

} // namespace rankscope::tracing
