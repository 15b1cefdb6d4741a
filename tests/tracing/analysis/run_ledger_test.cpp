#include "tracing/analysis/run_ledger.h"

#include "tests/support/temporary_directory.h"
#include "tests/support/trace_builder.h"
#include "tracing/analysis/ledger/ledger.h"
#include "tracing/analysis/load.h"
#include "tracing/analysis/run_analysis.h"
#include "tracing/analysis/run_analysis_pack.h"
#include "tracing/analysis/what_if.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kMs = 1'000'000;

class RunLedgerOfAFile : public testing::Test {
protected:
    /// Two steps of 100 ms on two ranks. Rank 0 computes 60 ms a step and enters an all-reduce at 60 ms; rank 1
    /// computes 80 ms and enters then; both leave at 90 ms. So rank 0 waits 20 ms, both transfer 10 ms, and after the
    /// last operation of each step 10 ms lie before the next step's kernel: its own launch, so the host's.
    std::string twoSteps(double peak = 0)
    {
        const auto file = directory_ / "run.rsdb";
        support::TraceBuilder trace(file, 2);
        for (int rank = 0; rank < 2; ++rank) {
            RankInfo info;
            info.rank = rank;
            info.node = "node0";
            if (peak > 0)
                info.peakFlops = peak;
            trace.describe(info);
        }
        for (int step = 0; step < 2; ++step) {
            const std::int64_t t = step * 100 * kMs;
            for (int rank = 0; rank < 2; ++rank)
                trace.step(rank, step, { t, t + 100 * kMs });
            trace.kernel(0, { t, t + 60 * kMs }, "matmul");
            trace.kernel(1, { t, t + 80 * kMs }, "matmul");
            trace.collective(CollectiveOp::AllReduce, Dimension::Data, 1'000'000,
                { { t + 60 * kMs, t + 90 * kMs }, { t + 80 * kMs, t + 90 * kMs } });
        }
        trace.finish();
        return file.string();
    }

    static std::int64_t total(const RunLedger& run, const std::string& leaf)
    {
        for (const ledger::LedgerTotal& candidate : run.totals) {
            if (ledger::leafName(candidate.leaf) == leaf)
                return candidate.ns;
        }
        return 0;
    }

    support::TemporaryDirectory directory_;
};

RunLedger ledgerOf(TraceReader& reader)
{
    const auto facts = loadFacts(reader);
    EXPECT_TRUE(facts) << facts.error().message();
    auto run = runLedger(reader, *facts);
    EXPECT_TRUE(run) << run.error().message();
    return std::move(*run);
}

} // namespace

TEST_F(RunLedgerOfAFile, EveryNsFallsIntoOneLeafAndTheWaitHasItsCause)
{
    auto reader = TraceReader::open(twoSteps());
    const RunLedger run = ledgerOf(*reader);
    EXPECT_EQ(run.capacityNs, 400 * kMs);
    EXPECT_EQ(run.residualNs(), 0);
    EXPECT_EQ(total(run, "compute"), 2 * (60 + 80) * kMs);
    EXPECT_EQ(total(run, "wait.dp"), 40 * kMs);
    EXPECT_EQ(total(run, "transfer.dp"), 40 * kMs);
    EXPECT_EQ(total(run, "host"), 20 * kMs); // between the steps
    EXPECT_EQ(total(run, "tail"), 20 * kMs); // after the last
    std::int64_t byCompute = 0;
    for (const ledger::LedgerRow& row : run.rows) {
        if (row.culprit == 1 && row.cause == "compute")
            byCompute += row.ns;
    }
    EXPECT_EQ(byCompute, 40 * kMs);
    EXPECT_FALSE(run.gpuTime);
    EXPECT_EQ(run.capacityFlop(), std::nullopt);
}

TEST_F(RunLedgerOfAFile, TheWholeIsTheSumOfItsSteps)
{
    auto reader = TraceReader::open(twoSteps());
    const RunLedger run = ledgerOf(*reader);
    const auto first = onlySteps(run, { 0, 0 }), second = onlySteps(run, { 1, 1 });
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->capacityNs + second->capacityNs, run.capacityNs);
    EXPECT_EQ(first->residualNs(), 0);
    for (const ledger::LedgerTotal& leaf : run.totals) {
        const std::string name = ledger::leafName(leaf.leaf);
        EXPECT_EQ(total(*first, name) + total(*second, name), leaf.ns) << name;
    }
    EXPECT_FALSE(onlySteps(run, { 7, 9 }));
}

TEST_F(RunLedgerOfAFile, CapacityInFlopIsPeakTimesTime)
{
    auto reader = TraceReader::open(twoSteps(1e9));
    const RunLedger run = ledgerOf(*reader);
    EXPECT_DOUBLE_EQ(*run.capacityFlop(), 0.4e9); // 0.4 rank-seconds at 1 GFLOP/s
    EXPECT_DOUBLE_EQ(*run.flopOf(1, 100 * kMs), 0.1e9);
}

TEST_F(RunLedgerOfAFile, PopEfficienciesMultiplyToMeanComputeOverTime)
{
    // Both steps: compute 120 and 160 of 200 ms; without the transfers of 10 ms a step 180 ms remain.
    auto reader = TraceReader::open(twoSteps());
    const RunLedger run = ledgerOf(*reader);
    ASSERT_TRUE(run.pop);
    EXPECT_DOUBLE_EQ(run.pop->loadBalance(), 140. / 160);
    EXPECT_DOUBLE_EQ(run.pop->communication(), 160. / 200);
    EXPECT_DOUBLE_EQ(run.pop->transfer(), 180. / 200);
    EXPECT_DOUBLE_EQ(run.pop->serialisation(), 160. / 180);
    EXPECT_DOUBLE_EQ(run.pop->parallel(), 140. / 200);
    EXPECT_EQ(unpacked(packed(run))->pop, run.pop);
    EXPECT_FALSE(onlySteps(run, { 0, 0 })->pop == run.pop);
}

TEST_F(RunLedgerOfAFile, FixingTheSlowRankSavesWhatTheOthersWait)
{
    // Rank 1 computes as long as rank 0: 60 of 80 ms in each of two steps.
    auto reader = TraceReader::open(twoSteps());
    const RunLedger run = ledgerOf(*reader);
    const Saving* saving = run.savingOf(std::optional<std::int32_t>(1), "compute");
    ASSERT_NE(saving, nullptr);
    EXPECT_EQ(saving->prediction.baselineNs, 200 * kMs);
    EXPECT_EQ(saving->prediction.predictedNs, 160 * kMs);
    const Saving* transfer = run.savingOf(ledger::LeafKey{ ledger::Leaf::Transfer, Dimension::Data });
    ASSERT_NE(transfer, nullptr);
    EXPECT_EQ(transfer->prediction.savedNs(), 20 * kMs);
}

TEST_F(RunLedgerOfAFile, IsKeptInTheFileAndComesOutAsItWentIn)
{
    auto reader = TraceReader::open(twoSteps(1e9));
    const RunLedger run = ledgerOf(*reader);
    ASSERT_TRUE(reader->kept("ledger", ledger::kLedgerVersion, ""));
    const RunLedger again = ledgerOf(*reader);
    EXPECT_EQ(packed(again), packed(run));
    EXPECT_EQ(again.savings, run.savings);
    EXPECT_EQ(again.ranks, run.ranks);
    EXPECT_EQ(again.rows.size(), run.rows.size());
}

TEST_F(RunLedgerOfAFile, WhatIfPredictsTheStepOfAChangedRun)
{
    auto reader = TraceReader::open(twoSteps());
    const RunFacts facts = *loadFacts(*reader);
    const auto run = computeRunLedger(*reader, facts);
    ASSERT_TRUE(run);
    const auto step = [&](const std::vector<std::string>& changes) {
        const auto result = whatIf(*run, facts, changes);
        EXPECT_TRUE(result) << result.error().message();
        EXPECT_EQ(result->baselineStepNs, 100 * kMs);
        EXPECT_LE(result->lowNs, result->predictedStepNs);
        EXPECT_GE(result->highNs, result->predictedStepNs);
        return result->predictedStepNs;
    };
    EXPECT_EQ(step({ "compute=1" }), 100 * kMs);
    EXPECT_EQ(step({ "fix=1" }), 80 * kMs); // computes 60 instead of 80
    EXPECT_EQ(step({ "compute@1=0.75" }), 80 * kMs);
    EXPECT_EQ(step({ "transfer.dp=0" }), 90 * kMs);
    EXPECT_EQ(step({ "link.dp=2" }), 95 * kMs);
    EXPECT_EQ(step({ "overlap=perfect" }), 90 * kMs); // 10 ms of transfer a step fit under 90
    EXPECT_EQ(step({ "host=0" }), 95 * kMs); // the 10 ms between the steps; those after the last stay
    EXPECT_EQ(step({ "fix=1", "transfer=0", "host=0" }), 65 * kMs);
    EXPECT_EQ(step({ "compute=0.5", "fix=1" }), 50 * kMs); // half of 60 for both, 10 of transfer, 10 after it
}

TEST_F(RunLedgerOfAFile, ReportLedgerAndReplayCountTheSameSteps)
{
    // 500 ms of start-up with a kernel, a first step of 300 ms, four of 100 ms, 50 ms of shutdown.
    const auto file = directory_ / "long.rsdb";
    support::TraceBuilder trace(file, 1);
    trace.range(0, { 0, 500 * kMs }, RangeKind::Start);
    trace.kernel(0, { 100 * kMs, 200 * kMs }, "calibrate");
    std::int64_t t = 500 * kMs;
    for (int step = 1; step <= 5; ++step) {
        const std::int64_t length = (step == 1 ? 300 : 100) * kMs;
        trace.step(0, step, { t, t + length });
        trace.kernel(0, { t + 10 * kMs, t + length - 10 * kMs }, "matmul");
        t += length;
    }
    trace.range(0, { t, t + 50 * kMs }, RangeKind::Shutdown);
    trace.finish();
    auto reader = TraceReader::open(file);
    const auto report = analyse(*reader);
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->stepStats.meanNs, 100 * kMs);
    const auto run = computeRunLedger(*reader, report->facts);
    ASSERT_TRUE(run);
    EXPECT_EQ(run->summary.capacityNs, 1250 * kMs); // the ledger is of all time
    EXPECT_EQ(run->summary.counted, report->counted);
    EXPECT_EQ(run->summary.countedSteps, 4);
    const auto counted = onlySteps(run->summary, *run->summary.counted);
    EXPECT_EQ(counted->capacityNs, report->capacityNs());
    EXPECT_EQ(total(*counted, "compute"), report->total.computeNs);
    EXPECT_EQ(counted->savings, run->summary.savings);
    const auto half = whatIf(*run, report->facts, std::vector<std::string>{ "compute=0.5" });
    ASSERT_TRUE(half);
    EXPECT_EQ(half->baselineStepNs, report->stepStats.meanNs);
    EXPECT_EQ(half->predictedStepNs, 60 * kMs);
    const auto faster = whatIf(*run, report->facts, std::vector<std::string>{ "host=0" });
    ASSERT_TRUE(faster);
    EXPECT_EQ(faster->baselineStepNs, report->stepStats.meanNs);
    EXPECT_EQ(faster->predictedStepNs, 82'500'000); // of 20 ms a step all but the 10 after the last kernel
}

TEST_F(RunLedgerOfAFile, WhatIfRefusesWhatItDoesNotUnderstand)
{
    auto reader = TraceReader::open(twoSteps());
    const RunFacts facts = *loadFacts(*reader);
    const auto run = computeRunLedger(*reader, facts);
    ASSERT_TRUE(run);
    for (const char* change : { "", "faster", "fix=7", "fix=x", "compute=-1", "compute=nan", "compute@9=1", "host.dp=0",
             "transfer.zz=0", "link=0", "transfer.dp@1=0", "overlap=some", "=3" }) {
        const std::vector<std::string> changes{ change };
        EXPECT_FALSE(whatIf(*run, facts, changes)) << change;
    }
}

TEST_F(RunLedgerOfAFile, AReportAskedForAgainHasTheSameFigures)
{
    auto reader = TraceReader::open(twoSteps(1e9));
    const auto first = analyse(*reader);
    ASSERT_TRUE(first);
    const int version = 1000 * ledger::kLedgerVersion + kAnalysisVersion;
    ASSERT_TRUE(reader->kept("report", version, "steps 0:1"));
    const auto again = analyse(*reader);
    ASSERT_TRUE(again);
    EXPECT_EQ(packedFigures(*again), packedFigures(*first));
    EXPECT_EQ(again->total, first->total);
    EXPECT_EQ(again->usefulFlops, first->usefulFlops);
    ASSERT_EQ(again->kernels.size(), 1U);
    EXPECT_EQ(again->kernels[0].name, "matmul");
    ASSERT_EQ(again->findings.size(), first->findings.size());
    for (std::size_t i = 0; i < first->findings.size(); ++i)
        EXPECT_EQ(again->findings[i].text, first->findings[i].text);
    // Other steps are another question, a window is not kept.
    const auto one = analyse(*reader, { .steps = StepRange{ 1, 1 } });
    ASSERT_TRUE(one);
    EXPECT_EQ(one->total.windowNs, 200 * kMs);
    ASSERT_TRUE(analyse(*reader, { .window = Window{ 0, 50 * kMs } }));
    EXPECT_FALSE(reader->kept("report", version, "run"));
}

TEST_F(RunLedgerOfAFile, TheCriticalPathFollowsTheLateRankAndSumsToTheSteps)
{
    auto reader = TraceReader::open(twoSteps());
    // Back from 200 ms on rank 0: 10 ms after the last operation, 10 ms of transfer; its wait leads to rank 1, which
    // computed for 80 ms, launched for 10 ms, and before that transferred for 10 ms and computed for 80 ms.
    const auto both = analyse(*reader);
    ASSERT_TRUE(both);
    const std::vector<PathShare> expected{ { 1, SpanClass::Compute, Dimension::None, 160 * kMs },
        { 0, SpanClass::Unattributed, Dimension::None, 10 * kMs },
        { 0, SpanClass::Transfer, Dimension::Data, 10 * kMs }, { 1, SpanClass::Transfer, Dimension::Data, 10 * kMs },
        { 1, SpanClass::Host, Dimension::None, 10 * kMs } };
    EXPECT_EQ(both->path, expected);
    EXPECT_EQ(analyse(*reader)->path, expected); // as it is kept
    const auto second = analyse(*reader, { .steps = StepRange{ 1, 1 } });
    ASSERT_TRUE(second);
    const std::vector<PathShare> ofSecond{ { 1, SpanClass::Compute, Dimension::None, 80 * kMs },
        { 0, SpanClass::Unattributed, Dimension::None, 10 * kMs },
        { 0, SpanClass::Transfer, Dimension::Data, 10 * kMs } };
    EXPECT_EQ(second->path, ofSecond);
}

TEST_F(RunLedgerOfAFile, TimeWithoutACoreStandsApartOnTheCriticalPath)
{
    const auto file = directory_ / "run.rsdb";
    support::TraceBuilder trace(file, 2);
    trace.kernel(0, { 0, 40 * kMs }, "matmul", { .cpuNs = 40 * kMs });
    trace.kernel(1, { 0, 80 * kMs }, "matmul", { .cpuNs = 50 * kMs });
    trace.collective(
        CollectiveOp::AllReduce, Dimension::Tensor, 1'000, { { 40 * kMs, 90 * kMs }, { 80 * kMs, 90 * kMs } });
    trace.finish();
    auto reader = TraceReader::open(file.string());
    const auto run = analyse(*reader);
    ASSERT_TRUE(run);
    const std::vector<PathShare> expected{ { 1, SpanClass::Compute, Dimension::None, 50 * kMs },
        { 1, SpanClass::Descheduled, Dimension::None, 30 * kMs },
        { 0, SpanClass::Transfer, Dimension::Tensor, 10 * kMs } };
    EXPECT_EQ(run->path, expected);
}

TEST_F(RunLedgerOfAFile, ADamagedSavedReportIsCountedAnew)
{
    auto reader = TraceReader::open(twoSteps(1e9));
    const auto first = analyse(*reader);
    ASSERT_TRUE(first);
    const std::string good = packedFigures(*first);
    RunAnalysis empty;
    empty.facts = first->facts;
    empty.steps = first->steps;
    EXPECT_TRUE(unpackFigures(good, empty));
    EXPECT_FALSE(unpackFigures(good.substr(0, good.size() / 2), empty));
    EXPECT_FALSE(unpackFigures(good + "7 ", empty));
    EXPECT_FALSE(unpackFigures("", empty));
    reader->keep("report", 1000 * ledger::kLedgerVersion + kAnalysisVersion, "steps 0:1", "nonsense");
    const auto again = analyse(*reader);
    ASSERT_TRUE(again);
    EXPECT_EQ(packedFigures(*again), good);
}

TEST(RunLedgerKept, ADamagedResultIsNoResult)
{
    RunLedger run;
    run.capacityNs = 5;
    run.rows = std::vector<ledger::LedgerRow>(1);
    std::string text = packed(run);
    ASSERT_TRUE(unpacked(text));
    EXPECT_FALSE(unpacked(text.substr(0, text.size() - 2)));
    EXPECT_FALSE(unpacked(text + "7 "));
    EXPECT_FALSE(unpacked("99999999999 " + text));
    EXPECT_FALSE(unpacked(""));
}

} // namespace rankscope::tracing
