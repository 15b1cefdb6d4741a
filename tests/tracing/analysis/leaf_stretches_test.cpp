#include "tracing/analysis/leaf_stretches.h"

#include "tests/support/temporary_directory.h"
#include "tests/support/trace_builder.h"
#include "tracing/analysis/load.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kMs = 1'000'000;
using ledger::Leaf;

class LeafStretchesOfAFile : public testing::Test {
protected:
    /// One step of 100 ms on two ranks: rank 0 computes until 60 ms and waits in an all-reduce for rank 1, which
    /// computes until 80 ms; both leave at 90 ms.
    LeafStretchesOfAFile()
    {
        support::TraceBuilder trace(file_, 2);
        for (int rank = 0; rank < 2; ++rank)
            trace.step(rank, 0, { 0, 100 * kMs });
        trace.kernel(0, { 0, 60 * kMs });
        trace.kernel(1, { 0, 80 * kMs });
        trace.collective(
            CollectiveOp::AllReduce, Dimension::Data, 1'000'000, { { 60 * kMs, 90 * kMs }, { 80 * kMs, 90 * kMs } });
        trace.finish();
    }

    LeafStretches of(const LeafChoice& choice) const
    {
        auto reader = TraceReader::open(file_.string());
        const auto facts = loadFacts(*reader);
        auto stretches = readLeafStretches(*reader, *facts, choice);
        EXPECT_TRUE(stretches) << stretches.error().message();
        return *stretches;
    }

    support::TemporaryDirectory directory_;
    std::filesystem::path file_ = directory_ / "run.rsdb";
};

} // namespace

TEST_F(LeafStretchesOfAFile, AWaitLiesWhereTheRankWaited)
{
    const LeafStretches expected{ { 0, { { 60 * kMs, 80 * kMs } } } };
    EXPECT_EQ(of({ { Leaf::Wait, Dimension::Data } }), expected);
    EXPECT_TRUE(of({ { Leaf::Wait, Dimension::Tensor } }).empty());
}

TEST_F(LeafStretchesOfAFile, ACauseHasOnlyTheWaitsThatAreBlamedOnIt)
{
    const LeafStretches expected{ { 0, { { 60 * kMs, 80 * kMs } } } };
    EXPECT_EQ(of({ .leaf = { Leaf::Wait, Dimension::Data }, .culprit = 1, .cause = "compute" }), expected);
    EXPECT_TRUE(of({ .leaf = { Leaf::Wait, Dimension::Data }, .culprit = 0, .cause = "compute" }).empty());
}

TEST_F(LeafStretchesOfAFile, TransfersAndComputeOfAllRanksOrOfOne)
{
    const LeafStretches transfers{ { 0, { { 80 * kMs, 90 * kMs } } }, { 1, { { 80 * kMs, 90 * kMs } } } };
    EXPECT_EQ(of({ { Leaf::Transfer, Dimension::Data } }), transfers);
    const LeafStretches compute{ { 1, { { 0, 80 * kMs } } } };
    EXPECT_EQ(of({ .leaf = { Leaf::Compute }, .rank = 1 }), compute);
}

} // namespace rankscope::tracing
