#include "tracing/analysis/trace_ledger.h"

#include "tests/support/temporary_directory.h"
#include "tracing/analysis/ledger/ledger.h"
#include "tracing/analysis/load.h"
#include "tracing/import/importer.h"
#include "tracing/store/trace_writer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace rankscope::tracing {

namespace {

std::string traces(const std::string& name)
{
    const char* folder = std::getenv("RANKSCOPE_TRACES");
    return (std::filesystem::path(folder ? folder : "../shared/traces") / name).string();
}

class TraceLedger : public testing::Test {
protected:
    std::string path() const { return (directory_ / "run.rsdb").string(); }

    LedgerSource read()
    {
        auto reader = TraceReader::open(path());
        EXPECT_TRUE(reader) << reader.error().message();
        const auto facts = loadFacts(*reader);
        auto source = readLedgerSource(*reader, *facts);
        EXPECT_TRUE(source) << source.error().message();
        return std::move(*source);
    }

    /// Share of a leaf over all dimensions, in %.
    static double share(const ledger::LedgerResult& result, ledger::Leaf leaf)
    {
        std::int64_t ns = 0;
        for (const ledger::LedgerTotal& total : result.totals)
            ns += total.leaf.leaf == leaf ? total.ns : 0;
        return 100.0 * static_cast<double>(ns) / static_cast<double>(result.capacity);
    }
    /// Share of the waits that a rank causes, in %; by that cause alone where one is given.
    static double waitsFor(const ledger::LedgerResult& result, int culprit, const std::string& cause = "")
    {
        std::int64_t ns = 0;
        for (const ledger::LedgerRow& row : result.rows) {
            if (row.leaf.leaf == ledger::Leaf::Wait && row.culprit == culprit && (cause.empty() || row.cause == cause))
                ns += row.ns;
        }
        return 100.0 * static_cast<double>(ns) / static_cast<double>(result.capacity);
    }
    static std::int64_t residual(const ledger::LedgerResult& result)
    {
        std::int64_t left = result.capacity;
        for (const ledger::LedgerRow& row : result.rows)
            left -= row.ns;
        return left;
    }

    support::TemporaryDirectory directory_;
};

} // namespace

TEST_F(TraceLedger, ARestartsLostStepsAndDowntimeComeFromWhatWasRecorded)
{
    {
        auto writer = TraceWriter::open(path(), TraceWriter::Mode::CreateNew);
        RunInfo run;
        run.source = "rankscope";
        run.worldSize = 1;
        ASSERT_TRUE(writer->setRun(run));
        ASSERT_TRUE(writer->putRank(RankInfo{}));
        const auto lane = writer->lane({ {}, 0, LaneKind::Compute, Dimension::None, "compute", "" });
        Kernel kernel;
        kernel.endNs = 300;
        ASSERT_TRUE(writer->append(*lane, std::span<const Kernel>(&kernel, 1)));
        kernel = {};
        kernel.beginNs = 600;
        kernel.endNs = 800;
        ASSERT_TRUE(writer->append(*lane, std::span<const Kernel>(&kernel, 1)));
        // Three steps of 100 ns; step 1 is saved. Rank 0 dies at 300, which is seen at 400; ranks are there again at
        // 500, and step 2 is done again at 600.
        ASSERT_TRUE(writer->putStep({ 0, 1, 0, 0, 100 }));
        ASSERT_TRUE(writer->putStep({ 0, 2, 0, 100, 200 }));
        ASSERT_TRUE(writer->putStep({ 0, 3, 0, 200, 300 }));
        ASSERT_TRUE(writer->putCheckpoint({ 0, 1, 90, 110, 5, 100, "step-1" }));
        ASSERT_TRUE(writer->putFailure({ 0, 400, "rank 0 died", { 0 }, 500, 1 }));
        ASSERT_TRUE(writer->putStep({ 0, 2, 1, 600, 700 }));
        ASSERT_TRUE(writer->putStep({ 0, 3, 1, 700, 800 }));
        ASSERT_TRUE(writer->finish());
    }
    const ledger::LedgerResult result = ledger::computeLedger(read().input);
    EXPECT_EQ(result.capacity, 800);
    EXPECT_EQ(residual(result), 0);
    EXPECT_DOUBLE_EQ(share(result, ledger::Leaf::Lost), 25); // steps 2 and 3, [100, 300)
    EXPECT_DOUBLE_EQ(share(result, ledger::Leaf::DownDetect), 12.5); // [300, 400)
    EXPECT_DOUBLE_EQ(share(result, ledger::Leaf::DownRestart), 12.5); // [400, 500)
    EXPECT_DOUBLE_EQ(share(result, ledger::Leaf::DownRestore), 12.5); // [500, 600)
}

TEST_F(TraceLedger, OfAnImportedRunARanksOwnStepsAreItsWindowAndItsHostCallsTheLaunches)
{
    {
        auto writer = TraceWriter::open(path(), TraceWriter::Mode::CreateNew);
        RunInfo run;
        run.source = "pytorch";
        run.worldSize = 2;
        ASSERT_TRUE(writer->setRun(run));
        RankInfo rank;
        rank.clockErrorNs = 7;
        ASSERT_TRUE(writer->putRank(rank));
        const auto stream = *writer->lane({ {}, 0, LaneKind::Compute, Dimension::None, "stream 7", "" });
        const auto thread = *writer->lane({ {}, 0, LaneKind::Host, Dimension::None, "thread 9", "" });
        Kernel kernel;
        kernel.beginNs = 500;
        kernel.endNs = 700;
        kernel.correlation = 3;
        ASSERT_TRUE(writer->append(stream, std::span<const Kernel>(&kernel, 1)));
        // Two calls share the correlation: the earlier one launches.
        const HostCall calls[]{ { {}, 300, 310, {}, 3 }, { {}, 400, 410, {}, 3 } };
        ASSERT_TRUE(writer->append(thread, std::span<const HostCall>(calls)));
        ASSERT_TRUE(writer->putStep({ 0, 4, 0, 100, 900 }));
        ASSERT_TRUE(writer->finish());
    }
    const LedgerSource source = read();
    ASSERT_EQ(source.input.ranks.size(), 1U);
    const ledger::RankInput& rank = source.input.ranks[0];
    ASSERT_EQ(rank.stretches.size(), 1U);
    EXPECT_EQ(rank.stretches[0].begin, 100);
    EXPECT_EQ(rank.stretches[0].step, 4);
    EXPECT_EQ(rank.compute.at(0).launch, 300);
    EXPECT_EQ(rank.clockError, 7);
    EXPECT_TRUE(source.gpuTime);
    EXPECT_FALSE(source.flopsKnown);
    EXPECT_EQ(source.ranksAbsent, 1);
    // [100, 300) waits for its launch, [300, 500) is on its way, 200 of compute, the rest is tail.
    const auto result = ledger::computeLedger(source.input);
    EXPECT_DOUBLE_EQ(share(result, ledger::Leaf::Host), 25);
    EXPECT_DOUBLE_EQ(share(result, ledger::Leaf::Launch), 25);
    EXPECT_DOUBLE_EQ(share(result, ledger::Leaf::Compute), 25);
    EXPECT_DOUBLE_EQ(share(result, ledger::Leaf::Tail), 25);
}

TEST_F(TraceLedger, ARecordedRunHasOneWindowPeaksAPipelineAndALifecycle)
{
    {
        auto writer = TraceWriter::open(path(), TraceWriter::Mode::CreateNew);
        RunInfo run;
        run.source = "rankscope";
        run.worldSize = 2;
        ASSERT_TRUE(writer->setRun(run));
        ASSERT_TRUE(writer->setProvenance("config.parallel.pp", "2"));
        ASSERT_TRUE(writer->setProvenance("config.parallel.schedule", "\"1f1b\""));
        ASSERT_TRUE(writer->setProvenance("config.batch.micro_batches", "4"));
        for (int r = 0; r < 2; ++r) {
            RankInfo rank;
            rank.rank = r;
            rank.stage = r;
            rank.peakFlops = 1e12;
            ASSERT_TRUE(writer->putRank(rank));
            KernelSignature signature;
            signature.name = *writer->name("matmul");
            signature.pass = Pass::Forward;
            signature.flop = 50;
            Kernel kernel;
            kernel.beginNs = 1000 + 10 * r;
            kernel.endNs = 1100;
            kernel.signature = *writer->signature(signature);
            kernel.cpuNs = 60;
            const auto lane = *writer->lane({ {}, r, LaneKind::Compute, Dimension::None, "compute", "" });
            ASSERT_TRUE(writer->append(lane, std::span<const Kernel>(&kernel, 1)));
            ASSERT_TRUE(writer->putStep({ r, 0, 0, 1000 + 10 * r, 1200 }));
        }
        ASSERT_TRUE(writer->finish());
    }
    const LedgerSource source = read();
    ASSERT_EQ(source.input.ranks.size(), 2U);
    EXPECT_EQ(source.input.ranks[0].stretches.at(0).begin, source.input.ranks[1].stretches.at(0).begin);
    EXPECT_EQ(source.input.ranks[1].compute.at(0).launch, 1010); // a CPU rank's span is its own launch
    EXPECT_EQ(source.input.ranks[1].compute.at(0).flop, 50);
    EXPECT_EQ(source.input.ranks[1].compute.at(0).cpu, 60);
    EXPECT_EQ(source.input.ranks[1].peak.flopPerSecond, 1'000'000'000'000);
    ASSERT_TRUE(source.input.pipeline);
    EXPECT_EQ(source.input.pipeline->stages, 2);
    EXPECT_EQ(source.input.pipeline->microBatches, 4);
    ASSERT_TRUE(source.input.lifecycle);
    EXPECT_EQ(source.input.lifecycle->attempts.at(0).steps.at(0).begin.at(1), 1010);
    EXPECT_TRUE(source.input.lifecycle->finalStateAccepted);
    EXPECT_FALSE(source.gpuTime);
    EXPECT_TRUE(source.flopsKnown);
}

TEST_F(TraceLedger, ASendAndItsReceiveAreOneInstanceWithBothEnds)
{
    {
        auto writer = TraceWriter::open(path(), TraceWriter::Mode::CreateNew);
        RunInfo run;
        run.source = "rankscope";
        run.worldSize = 2;
        ASSERT_TRUE(writer->setRun(run));
        Communicator group;
        group.name = "pp";
        group.dimension = Dimension::Pipeline;
        group.members = { 0, 1 };
        CollectiveMatch match;
        match.id = static_cast<InstanceId>(1);
        match.communicator = *writer->communicator(group);
        match.op = CollectiveOp::Send;
        match.partsPresent = match.partsExpected = 2;
        ASSERT_TRUE(writer->putMatch(match));
        for (int r = 0; r < 2; ++r) {
            RankInfo rank;
            rank.rank = r;
            ASSERT_TRUE(writer->putRank(rank));
            CollectivePart part;
            part.beginNs = 100 * r;
            part.endNs = 200;
            part.op = r == 0 ? CollectiveOp::Send : CollectiveOp::Receive;
            part.instance = match.id;
            part.peer = 1 - r;
            const auto lane = *writer->lane({ {}, r, LaneKind::Communication, Dimension::Pipeline, "pp", "" });
            ASSERT_TRUE(writer->append(lane, std::span<const CollectivePart>(&part, 1)));
        }
        ASSERT_TRUE(writer->finish());
    }
    const LedgerSource source = read();
    ASSERT_EQ(source.input.instances.size(), 1U);
    EXPECT_EQ(source.input.instances[0].source, 0);
    EXPECT_EQ(source.input.instances[0].destination, 1);
    const auto result = ledger::computeLedger(source.input);
    EXPECT_EQ(result.ranks[0].parts.at(0).wait, 100); // the receiver comes at 100
    EXPECT_EQ(residual(result), 0);
}

TEST_F(TraceLedger, RealStragglerJobWaitsForRankTwosHost)
{
    if (!std::filesystem::exists(traces("torchrec_straggler_4rank")))
        GTEST_SKIP() << "no " << traces("torchrec_straggler_4rank")
                     << "; set RANKSCOPE_TRACES to the folder of real traces";
    ASSERT_TRUE(importTraces({ traces("torchrec_straggler_4rank") }, path()));
    const auto result = ledger::computeLedger(read().input);
    EXPECT_NEAR(share(result, ledger::Leaf::Compute), 3.7, 0.05);
    EXPECT_NEAR(share(result, ledger::Leaf::Transfer), 1.1, 0.05);
    EXPECT_NEAR(share(result, ledger::Leaf::Wait), 68.2, 0.15);
    EXPECT_NEAR(share(result, ledger::Leaf::Host), 26.8, 0.05);
    EXPECT_NEAR(share(result, ledger::Leaf::Unattributed), 0.2, 0.05);
    EXPECT_GT(waitsFor(result, 2, "host"), 67.5);
    EXPECT_EQ(residual(result), 0);
}

TEST_F(TraceLedger, RealEightRankJobWaitsForRanksSevenFiveAndFourAndNotForRankTwo)
{
    if (!std::filesystem::exists(traces("dlrm_8rank")))
        GTEST_SKIP() << "no " << traces("dlrm_8rank") << "; set RANKSCOPE_TRACES to the folder of real traces";
    ASSERT_TRUE(importTraces({ traces("dlrm_8rank") }, path()));
    const auto result = ledger::computeLedger(read().input);
    const double wait = share(result, ledger::Leaf::Wait);
    EXPECT_NEAR(wait, 35.4, 0.05);
    EXPECT_NEAR(share(result, ledger::Leaf::Compute), 6.9, 0.05);
    EXPECT_NEAR(share(result, ledger::Leaf::Host), 44.8, 0.1);
    EXPECT_NEAR(share(result, ledger::Leaf::Transfer), 1.2, 0.05);
    EXPECT_NEAR(100 * waitsFor(result, 7) / wait, 76, 2);
    EXPECT_NEAR(100 * waitsFor(result, 5) / wait, 13, 2);
    EXPECT_NEAR(100 * waitsFor(result, 4) / wait, 11, 2);
    EXPECT_EQ(waitsFor(result, 2), 0);
    EXPECT_NEAR(waitsFor(result, 7, "before the recording"), 19.2, 0.1);
    EXPECT_EQ(residual(result), 0);
}

} // namespace rankscope::tracing
