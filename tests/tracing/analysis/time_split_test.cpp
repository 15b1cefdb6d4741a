#include "tracing/analysis/time_split.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

template <typename Row> Row at(std::int64_t beginNs, std::int64_t endNs)
{
    Row row;
    row.beginNs = beginNs;
    row.endNs = endNs;
    return row;
}

} // namespace

TEST(TimeSplit, EachLeafIsCountedOnceAndTheSumIsTheWindow)
{
    TimeSplit split;
    addLeaf(split, { ledger::Leaf::Useful }, 300);
    addLeaf(split, { ledger::Leaf::Optimizer }, 100);
    addLeaf(split, { ledger::Leaf::Wait, Dimension::Data }, 300);
    addLeaf(split, { ledger::Leaf::TransferExcess, Dimension::Data }, 300);
    addLeaf(split, { ledger::Leaf::BubbleDrain }, 50);
    addLeaf(split, { ledger::Leaf::Unattributed }, 450);
    EXPECT_EQ(split.computeNs, 400);
    EXPECT_EQ(split.optimizerNs, 100); // inside compute
    EXPECT_EQ(split.waitNs, 300);
    EXPECT_EQ(split.transferByDimensionNs[static_cast<std::size_t>(Dimension::Data)], 300);
    EXPECT_EQ(split.bubbleNs(), 50);
    EXPECT_EQ(split.idleNs, 450);
    EXPECT_EQ(split.sumNs(), 1500);
    EXPECT_EQ(split.windowNs, 1500);
}

TEST(OverlapSummary, CountsUnionsNotDurations)
{
    RankRows rows;
    // Two kernels [0,100) and [50,150): union 150, although their durations sum to 200.
    rows.kernels = { at<Kernel>(0, 100), at<Kernel>(50, 150) };
    // Two collectives [80,200) and [120,220): union 140; under compute [80,150) = 70.
    rows.parts = { at<SplitPart>(80, 200), at<SplitPart>(120, 220) };
    rows.copies = { at<Copy>(210, 240) };
    const OverlapSummary summary = overlapSummary(rows, { 0, 300 });
    EXPECT_EQ(summary.computeNs, 150);
    EXPECT_EQ(summary.communicationNs, 140);
    EXPECT_EQ(summary.overlapNs, 70);
    EXPECT_EQ(summary.exposedNs, 70);
    EXPECT_EQ(summary.copyNs, 20);
    EXPECT_EQ(summary.idleNs, 60);
    EXPECT_DOUBLE_EQ(*summary.overlapShare(), 0.5);
}

TEST(OverlapSummary, IsCutAtTheWindowAndHasNoShareWithoutCommunication)
{
    RankRows rows;
    rows.kernels = { at<Kernel>(0, 100) };
    const OverlapSummary summary = overlapSummary(rows, { 40, 60 });
    EXPECT_EQ(summary.computeNs, 20);
    EXPECT_EQ(summary.idleNs, 0);
    EXPECT_EQ(summary.overlapShare(), std::nullopt);
}

} // namespace rankscope::tracing
