#include "tracing/export/leaves.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

namespace {

std::int64_t sumOf(const std::vector<Leaf>& leaves)
{
    std::int64_t sum = 0;
    for (const Leaf& leaf : leaves)
        sum += leaf.ns;
    return sum;
}

/// Every part has another size, so that none can stand in for another.
TimeSplit everything()
{
    TimeSplit split;
    split.computeNs = 1;
    split.optimizerNs = 1;
    split.descheduledNs = 2;
    split.transferNs = 4;
    split.transferByDimensionNs[1] = 4;
    split.waitNs = 8;
    split.waitByDimensionNs[3] = 8;
    split.unsplitNs = 16;
    split.bubbleByPhaseNs = { 32, 64, 128 };
    split.copyNs = 256;
    split.dataNs = 512;
    split.checkpointNs = 1024;
    split.startNs = 2048;
    split.plannedNs = 4096;
    split.kernelGapNs = 8192;
    split.idleNs = 16384;
    split.imbalanceNs = 1 << 15;
    split.hostNs = 1 << 16;
    split.launchNs = 1 << 17;
    split.tailNs = 1 << 18;
    split.lostNs = 1 << 19;
    split.downNs = 1 << 20;
    return split;
}

} // namespace

TEST(Leaves, BothListsSumToTheSplit)
{
    EXPECT_EQ(sumOf(leavesOf(everything())), (1 << 21) - 1);
    EXPECT_EQ(sumOf(leavesInWords(everything())), (1 << 21) - 1);
    EXPECT_EQ(everything().sumNs(), (1 << 21) - 1);
}

TEST(Leaves, AreNamedByDimensionAndPhase)
{
    std::string names;
    for (const Leaf& leaf : leavesOf(everything()))
        names += leaf.name + " ";
    EXPECT_EQ(names,
        "unattributed compute optimizer descheduled transfer.dp wait.pp communication.unsplit "
        "bubble.structural.fill bubble.structural.steady bubble.structural.drain bubble.imbalance copy host launch "
        "kernel_gap data checkpoint tail lost down planned start ");
}

TEST(Leaves, InWordsLeaveOutWhatTakesNoTime) { EXPECT_TRUE(leavesInWords(TimeSplit{}).empty()); }

} // namespace rankscope::tracing
