#include "tracing/analysis/perfect_overlap.h"

#include "tracing/analysis/ledger/ledger.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

/// Two replicas alike, two micro-batches of F 10 and B 20, gradients summed in 35 behind them, then the optimizer's 5.
ledger::LedgerInput replicas()
{
    ledger::LedgerInput input;
    input.instances.push_back({ 1, 0, CollectiveOp::AllReduce, Dimension::Data, { 0, 1 }, {}, {}, {}, {}, 0 });
    for (std::int32_t r = 0; r < 2; ++r) {
        ledger::RankInput rank;
        rank.rank = r;
        rank.stretches = { { 0, 100, {} } };
        const auto kernel = [&](ledger::Ns begin, ledger::Ns end, Pass pass) {
            ledger::ComputeOp op;
            op.begin = begin;
            op.end = end;
            op.pass = pass;
            rank.compute.push_back(op);
        };
        kernel(0, 10, Pass::Forward);
        kernel(10, 30, Pass::Backward);
        kernel(30, 40, Pass::Forward);
        kernel(40, 50, Pass::Backward);
        kernel(50, 60, Pass::Backward);
        kernel(95, 100, Pass::Optimizer);
        rank.parts = { { 60, 95, 0, {}, {}, false } };
        input.ranks.push_back(rank);
    }
    return input;
}

} // namespace

TEST(PerfectOverlap, GradientsAreSummedFromTheLastBackwardPassOn)
{
    // 40 until then, 35 of sums, 5 of the optimizer.
    ledger::LedgerInput input = replicas();
    const std::vector<Window> steps{ { 0, 100 } };
    EXPECT_EQ(leastOverlappedNs(input, ledger::computeLedger(input), steps), 80);
    // What is no sum of gradients may begin at once.
    input.instances[0].op = CollectiveOp::AllGather;
    EXPECT_EQ(leastOverlappedNs(input, ledger::computeLedger(input), steps), 35);
}

} // namespace rankscope::tracing
