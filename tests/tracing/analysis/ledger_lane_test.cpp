#include "tracing/analysis/run_analysis.h"

#include "tests/support/temporary_directory.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kMs = 1'000'000;

class LedgerLaneOfAFile : public testing::Test {
protected:
    AnalysedRun analysed()
    {
        auto reader = TraceReader::open(file_.string());
        auto run = analyseWithLedger(*reader);
        EXPECT_TRUE(run) << run.error().message();
        return std::move(*run);
    }

    /// "compute 0-60", in ms.
    static std::string text(const std::vector<LabelledInterval>& lane)
    {
        std::string all;
        for (const LabelledInterval& interval : lane) {
            all += std::string(toString(interval.label)) + " " + std::to_string(interval.beginNs / kMs) + "-"
                + std::to_string(interval.endNs / kMs) + (interval.communicationHidden ? " hides" : "")
                + (interval.awaitedRank ? " for " + std::to_string(*interval.awaitedRank) : std::string()) + "\n";
        }
        return all;
    }

    support::TemporaryDirectory directory_;
    std::filesystem::path file_ = directory_ / "run.rsdb";
};

} // namespace

TEST_F(LedgerLaneOfAFile, ShowsWhatTheLedgerCountsAlsoTheHostsGaps)
{
    // One step of 100 ms: rank 0 computes until 60 ms and waits for rank 1, which computes until 80; both leave at 90.
    support::TraceBuilder trace(file_, 2);
    for (int rank = 0; rank < 2; ++rank)
        trace.step(rank, 0, { 0, 100 * kMs });
    trace.kernel(0, { 0, 40 * kMs });
    trace.kernel(0, { 50 * kMs, 60 * kMs });
    trace.kernel(1, { 0, 80 * kMs });
    trace.collective(
        CollectiveOp::AllReduce, Dimension::Data, 1'000'000, { { 60 * kMs, 90 * kMs }, { 80 * kMs, 90 * kMs } });
    trace.finish();
    const AnalysedRun run = analysed();
    // Between its kernels rank 0's host launches nothing; the time after the last operation is no rule's.
    EXPECT_EQ(text(run.lanes.ranks.at(0)),
        "compute 0-40\nhost 40-50\ncompute 50-60\nwait 60-80 for 1\ntransfer 80-90\nunattributed 90-100\n");
    EXPECT_EQ(text(run.lanes.ranks.at(1)), "compute 0-80\ntransfer 80-90\nunattributed 90-100\n");
    EXPECT_EQ(run.lanes.covers, (Window{ 0, 100 * kMs }));
}

TEST_F(LedgerLaneOfAFile, PutsWhatAKernelLostWithoutACoreAtItsEnd)
{
    support::TraceBuilder(file_, 1).kernel(0, { 0, 100 * kMs }, "matmul", { .cpuNs = 30 * kMs }).finish();
    EXPECT_EQ(text(analysed().lanes.ranks.at(0)), "compute 0-30\ndescheduled 30-100\n");
}

TEST_F(LedgerLaneOfAFile, CutsComputeWhereACollectiveGoesOnUnderIt)
{
    support::TraceBuilder trace(file_, 2);
    trace.kernel(0, { 0, 100 * kMs });
    trace.kernel(1, { 0, 100 * kMs });
    trace.collective(
        CollectiveOp::AllReduce, Dimension::Data, 1'000'000, { { 20 * kMs, 70 * kMs }, { 20 * kMs, 70 * kMs } });
    trace.finish();
    EXPECT_EQ(text(analysed().lanes.ranks.at(0)), "compute 0-20\ncompute 20-70 hides\ncompute 70-100\n");
}

TEST_F(LedgerLaneOfAFile, TilesTheWindowAndSumsToTheSplitOfEachRank)
{
    support::TraceBuilder trace(file_, 2);
    for (int rank = 0; rank < 2; ++rank) {
        for (int i = 0; i < 50; ++i) {
            const std::int64_t begin = i * 10 * kMs + rank * i * 1000;
            trace.kernel(rank, { begin, begin + 7 * kMs }, "matmul", { .cpuNs = (3 + i % 4) * kMs });
        }
    }
    trace.finish();
    const AnalysedRun run = analysed();
    for (const RankAnalysis& rank : run.analysis.ranks) {
        std::int64_t reached = run.lanes.covers.beginNs;
        std::int64_t computeNs = 0;
        for (const LabelledInterval& interval : run.lanes.ranks.at(rank.info.rank)) {
            EXPECT_EQ(interval.beginNs, reached);
            reached = interval.endNs;
            computeNs += interval.label == SpanClass::Compute ? interval.durationNs() : 0;
        }
        EXPECT_EQ(reached, run.lanes.covers.endNs);
        EXPECT_EQ(computeNs, rank.split.computeNs);
    }
}

} // namespace rankscope::tracing
