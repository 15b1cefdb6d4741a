#include "tracing/analysis/time_split.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

Kernel kernel(Window window, std::optional<std::int64_t> cpuNs = std::nullopt, std::int32_t signature = 0)
{
    Kernel result;
    result.beginNs = window.beginNs;
    result.endNs = window.endNs;
    result.signature = SignatureId{ signature };
    result.cpuNs = cpuNs;
    return result;
}

SplitPart part(Window window, std::int64_t splitNs, Dimension dimension = Dimension::Data)
{
    SplitPart result;
    result.beginNs = window.beginNs;
    result.endNs = window.endNs;
    result.splitNs = splitNs;
    result.isSplit = true;
    result.dimension = dimension;
    result.lateRank = splitNs > window.beginNs ? std::optional(3) : std::nullopt;
    return result;
}

Range range(RangeKind kind, Window window)
{
    Range result;
    result.kind = kind;
    result.beginNs = window.beginNs;
    result.endNs = window.endNs;
    return result;
}

Bubble bubble(Window window, BubblePhase phase)
{
    Bubble result;
    result.beginNs = window.beginNs;
    result.endNs = window.endNs;
    result.phase = phase;
    result.awaitedRank = 1;
    return result;
}

/// "label begin end" of each stretch, to compare with a literal.
std::string labels(const RankRows& rows, Window window, const std::vector<KernelSignature>& signatures = {})
{
    std::string text;
    for (const LabelledInterval& interval : labelledIntervals({ rows, signatures, window })) {
        text += std::string(toString(interval.label)) + " " + std::to_string(interval.beginNs) + " "
            + std::to_string(interval.endNs) + "\n";
    }
    return text;
}

constexpr std::int64_t kLong = 100'000; ///< longer than a kernel gap

} // namespace

TEST(Label, ComputeComesBeforeTransferAndTransferBeforeWait)
{
    RankRows rows;
    rows.kernels = { kernel({ 0, 40 }) };
    // Waits [20,60), transfers [60,100); a second collective transfers [50,70).
    rows.parts = { part({ 20, 100 }, 60), part({ 50, 70 }, 50) };
    // Compute is cut where communication begins to be hidden under it.
    EXPECT_EQ(labels(rows, { 0, 100 }), "compute 0 20\ncompute 20 40\nwait 40 50\ntransfer 50 100\n");
}

TEST(Label, ACopyCountsOnlyWhereNothingElseRuns)
{
    RankRows rows;
    rows.kernels = { kernel({ 0, 10 }) };
    rows.copies.resize(1);
    rows.copies[0].beginNs = 5;
    rows.copies[0].endNs = 30;
    rows.parts = { part({ 20, 40 }, 20) };
    EXPECT_EQ(labels(rows, { 0, 40 }), "compute 0 10\ncopy 10 20\ntransfer 20 40\n");
}

TEST(Label, AnnotationsNameGapsAndCheckpointComesBeforeData)
{
    RankRows rows;
    rows.kernels = { kernel({ 0, 10 }), kernel({ kLong, kLong + 10 }) };
    rows.ranges = { range(RangeKind::Data, { 5, 50 }), range(RangeKind::Checkpoint, { 30, 60 }) };
    EXPECT_EQ(labels(rows, { 0, kLong + 10 }),
        "compute 0 10\ndata 10 30\ncheckpoint 30 60\nunattributed 60 100000\ncompute 100000 100010\n");
}

TEST(Label, ABubbleTakesThePlaceOfTheWaitOnThePipelineButNotOfTheTransfer)
{
    RankRows rows;
    rows.kernels = { kernel({ 100, 120 }) };
    rows.bubbles = { bubble({ 0, 100 }, BubblePhase::Fill) };
    rows.parts = { part({ 10, 100 }, 80, Dimension::Pipeline) };
    EXPECT_EQ(labels(rows, { 0, 120 }), "bubble 0 80\ntransfer 80 100\ncompute 100 120\n");
}

TEST(Label, AWaitInAnotherDimensionIsNoBubble)
{
    RankRows rows;
    rows.bubbles = { bubble({ 0, 100 }, BubblePhase::Drain) };
    rows.parts = { part({ 0, 100 }, 100, Dimension::Data) };
    EXPECT_EQ(labels(rows, { 0, 100 }), "wait 0 100\n");
}

TEST(Label, AShortGapBeforeAKernelIsLaunchAndALongOneIsUnattributed)
{
    RankRows rows;
    rows.kernels
        = { kernel({ 0, 10 }), kernel({ 10 + kKernelGapNs, 50'000 }), kernel({ 50'001 + kKernelGapNs, 90'000 }) };
    EXPECT_EQ(labels(rows, { 0, 90'000 }),
        "compute 0 10\nlaunch 10 30010\ncompute 30010 50000\nunattributed 50000 80001\ncompute 80001 90000\n");
}

TEST(Label, AShortGapAtTheEndIsNotALaunch)
{
    RankRows rows;
    rows.kernels = { kernel({ 0, 10 }) };
    EXPECT_EQ(labels(rows, { 0, 20 }), "compute 0 10\nunattributed 10 20\n");
}

TEST(Label, PartsWithoutPartnersStayUnsplitAtThePriorityOfTransfer)
{
    RankRows rows;
    rows.parts = { part({ 0, 50 }, 50), part({ 10, 60 }, 10) };
    rows.parts[1].isSplit = false;
    EXPECT_EQ(labels(rows, { 0, 60 }), "wait 0 10\ncommunication 10 60\n");
}

TEST(Label, LifecycleComesBeforeEverything)
{
    RankRows rows;
    rows.kernels = { kernel({ 0, 100 }) };
    rows.ranges = { range(RangeKind::Validation, { 60, 80 }) };
    const auto intervals = labelledIntervals({ rows, {}, { 0, 100 }, {}, Window{ 20, 90 } });
    const TimeSplit split = timeSplit(intervals, { 0, 100 });
    EXPECT_EQ(split.startNs, 30); // before 20 and after 90
    EXPECT_EQ(split.plannedNs, 20);
    EXPECT_EQ(split.computeNs, 50);
}

TEST(Label, PassesOfOptimizerAndRecomputeAreToldApart)
{
    RankRows rows;
    rows.kernels = { kernel({ 0, 10 }, {}, 0), kernel({ 10, 20 }, {}, 1), kernel({ 20, 30 }, {}, 2) };
    std::vector<KernelSignature> signatures(3);
    signatures[0].pass = Pass::Forward;
    signatures[1].pass = Pass::Recompute;
    signatures[2].pass = Pass::Optimizer;
    EXPECT_EQ(labels(rows, { 0, 30 }, signatures), "compute 0 10\nrecompute 10 20\noptimizer 20 30\n");
}

TEST(Label, DescheduledIsTheWallTimeWithoutCpuTimeSpreadOverTheKernel)
{
    RankRows rows;
    // 1000 ns of wall time, 600 ns of CPU time: 400 ns without a core. A cut at 250 gives the first piece 100 of them.
    rows.kernels = { kernel({ 0, 1000 }, 600) };
    const std::vector<std::int64_t> cuts{ 250 };
    const std::vector<KernelSignature> signatures(1);
    const auto intervals = labelledIntervals({ rows, signatures, { 0, 1000 }, cuts });
    ASSERT_EQ(intervals.size(), 2U);
    EXPECT_EQ(intervals[0].descheduledNs, 100);
    EXPECT_EQ(intervals[1].descheduledNs, 300);
}

TEST(Label, CpuTimeOfSeveralThreadsIsSharedAmongThem)
{
    RankRows rows;
    rows.kernels = { kernel({ 0, 1000 }, 1400) };
    std::vector<KernelSignature> signatures(1);
    signatures[0].threads = 2; // 700 ns each
    const auto intervals = labelledIntervals({ rows, signatures, { 0, 1000 } });
    EXPECT_EQ(timeSplit(intervals, { 0, 1000 }).descheduledNs, 300);
    EXPECT_EQ(timeSplit(intervals, { 0, 1000 }).computeNs, 700);
}

TEST(Label, TwoKernelsAtOnceTakeTurnsNsByNs)
{
    RankRows rows;
    // Together for 100 ns, 50 ns each; the first one had no core for half of its time, the second always.
    rows.kernels = { kernel({ 0, 100 }, 50), kernel({ 0, 100 }, 0) };
    const std::vector<KernelSignature> signatures(1);
    const TimeSplit split = timeSplit(labelledIntervals({ rows, signatures, { 0, 100 } }), { 0, 100 });
    EXPECT_EQ(split.descheduledNs, 25 + 50);
    EXPECT_EQ(split.computeNs, 25);
}

TEST(Label, ARangesMissingCpuTimeIsBookedOnItsGaps)
{
    RankRows rows;
    // A forward of 1 ms with 0.4 ms of CPU time: 0.6 ms lost. Its kernel lost 0.1 ms, its receive waits for 0.2 ms, so
    // 0.3 ms were lost in the gaps of 0.1 and 0.5 ms: 0.05 and 0.25.
    rows.kernels = { kernel({ 0, 200'000 }, 100'000), kernel({ 300'000, 300'001 }), kernel({ 999'999, 1'000'000 }) };
    rows.parts = { part({ 799'999, 999'999 }, 999'999) };
    rows.ranges = { range(RangeKind::Forward, { 0, 1'000'000 }) };
    rows.ranges[0].cpuNs = 400'000;
    const std::vector<KernelSignature> signatures(1);
    const auto intervals = labelledIntervals({ rows, signatures, { 0, 1'000'000 } });
    const TimeSplit split = timeSplit(intervals, { 0, 1'000'000 });
    EXPECT_EQ(split.descheduledNs, 100'000 + 300'000);
    EXPECT_EQ(split.sumNs(), 1'000'000);
    ASSERT_EQ(intervals[1].label, SpanClass::Unattributed);
    EXPECT_EQ(intervals[1].descheduledNs, 50'000); // 100,000 of 599,998 ns of gaps
}

TEST(Label, ARangeThatHadItsCoreLeavesItsGapsAlone)
{
    RankRows rows;
    rows.kernels = { kernel({ 0, 10'000 }) };
    rows.ranges = { range(RangeKind::Backward, { 0, 100'000 }) };
    rows.ranges[0].cpuNs = 100'000;
    const TimeSplit split = timeSplit(labelledIntervals({ rows, {}, { 0, 100'000 } }), { 0, 100'000 });
    EXPECT_EQ(split.descheduledNs, 0);
    EXPECT_EQ(split.idleNs, 90'000);
}

TEST(Label, StretchesTileTheWindowAndAreCutAtSteps)
{
    RankRows rows;
    rows.kernels = { kernel({ 5, 95 }) };
    const std::vector<std::int64_t> cuts{ 50 };
    const auto intervals = labelledIntervals({ rows, {}, { 0, 100 }, cuts });
    std::int64_t at = 0;
    bool cutFound = false;
    for (const LabelledInterval& interval : intervals) {
        EXPECT_EQ(interval.beginNs, at);
        at = interval.endNs;
        cutFound = cutFound || at == 50;
    }
    EXPECT_EQ(at, 100);
    EXPECT_TRUE(cutFound);
}

TEST(Label, AnEmptyWindowHasNoStretches) { EXPECT_TRUE(labelledIntervals({ RankRows{}, {}, { 10, 10 } }).empty()); }

} // namespace rankscope::tracing
