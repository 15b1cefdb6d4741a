#include "tracing/analysis/ledger/ledger.h"
#include "tracing/analysis/off_core_gaps.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

Range forward(std::int64_t begin, std::int64_t end, std::int64_t cpu)
{
    Range range;
    range.beginNs = begin;
    range.endNs = end;
    range.kind = RangeKind::Forward;
    range.cpuNs = cpu;
    return range;
}

/// Kernels [100, 300) with 150 ns of CPU time and [400, 600) without a reading, a message [600, 700), all in [0, 1000).
ledger::RankInput rank()
{
    ledger::RankInput out;
    out.stretches = { { 0, 1000, {} } };
    ledger::ComputeOp first, second;
    first.begin = first.launch.emplace(100);
    first.end = 300;
    first.cpu = 150;
    second.begin = second.launch.emplace(400);
    second.end = 600;
    out.compute = { first, second };
    ledger::PartOp part;
    part.begin = 600;
    part.end = 700;
    out.parts = { part };
    return out;
}

ledger::Ns leaf(const ledger::LedgerResult& result, ledger::Leaf wanted)
{
    ledger::Ns sum = 0;
    for (const ledger::LedgerTotal& total : result.totals)
        sum += total.leaf.leaf == wanted ? total.ns : 0;
    return sum;
}

} // namespace

TEST(OffCoreGaps, WhatARangeLostBeyondItsKernelsGoesToItsGapsInProportion)
{
    // The range lasts 1000 with 550 of CPU time: 450 lost. 50 were the first kernel's, 100 the message: 300 for the
    // gaps [0,100), [300,400), [700,1000) of 500: 60, 60, 180.
    ledger::LedgerInput input;
    input.ranks = { rank() };
    input.instances = { { 1, 0, CollectiveOp::AllReduce, Dimension::Data, { 0 }, {}, {}, {}, {}, 0 } };
    const std::vector<Range> ranges{ forward(0, 1000, 550) };
    addOffCoreGaps(input.ranks[0], ranges);
    ASSERT_EQ(input.ranks[0].compute.size(), 5u);
    EXPECT_EQ(input.ranks[0].compute[2].end - input.ranks[0].compute[2].begin, 60);
    EXPECT_EQ(input.ranks[0].compute[4].begin, 700);
    EXPECT_EQ(input.ranks[0].compute[4].end, 880);
    const ledger::LedgerResult result = ledger::computeLedger(input);
    EXPECT_EQ(leaf(result, ledger::Leaf::Descheduled), 350);
    EXPECT_EQ(leaf(result, ledger::Leaf::Compute), 350);
    // The rest of the two gaps before kernels is the host's, that at the end of the stretch its tail.
    EXPECT_EQ(leaf(result, ledger::Leaf::Host), 80);
    EXPECT_EQ(leaf(result, ledger::Leaf::Tail), 120);
}

TEST(OffCoreGaps, ARangeThatHadItsCoreAllTheTimeLeavesItsGapsAlone)
{
    ledger::RankInput input = rank();
    const std::vector<Range> ranges{ forward(0, 1000, 1000) };
    addOffCoreGaps(input, ranges);
    EXPECT_EQ(input.compute.size(), 2u);
}

TEST(OffCoreGaps, NeverMoreThanTheGapsHold)
{
    ledger::RankInput input = rank();
    const std::vector<Range> ranges{ forward(0, 1000, 0) };
    addOffCoreGaps(input, ranges);
    ledger::Ns off = 0;
    for (std::size_t i = 2; i < input.compute.size(); ++i)
        off += input.compute[i].end - input.compute[i].begin;
    EXPECT_EQ(off, 500);
}

} // namespace rankscope::tracing
