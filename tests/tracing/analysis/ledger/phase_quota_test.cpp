#include "tracing/analysis/ledger/bubbles.h"

#include <gtest/gtest.h>

#include <numeric>

namespace rankscope::tracing::ledger {

namespace {

/// Means of 10 and 20 ns a pass; of the latter `weight` in weight passes.
PassSums sums(Ns weight = 0)
{
    return { .forward = 40, .backward = 80, .weight = 4 * weight, .forwards = 4, .backwards = 4 };
}

Ns total(const PhaseQuota& quota) { return std::accumulate(quota.begin(), quota.end(), Ns{ 0 }); }

} // namespace

TEST(PhaseQuota, OfOneForwardOneBackwardIsTheFormula)
{
    // Stage 1 of 3: fill F, warm B, cool F, drain B.
    EXPECT_EQ(phaseQuota(oneForwardOneBackward(3, 4), 1, sums()), (PhaseQuota{ 10, 20, 0, 10, 20 }));
}

TEST(PhaseQuota, ByEventsAgreesWithTheFormula)
{
    Schedule unnamed = oneForwardOneBackward(4, 7);
    unnamed.name.clear(); // so that it is played
    for (int stage = 0; stage < 4; ++stage)
        EXPECT_EQ(phaseQuota(unnamed, stage, sums()), phaseQuota(oneForwardOneBackward(4, 7), stage, sums()));
}

TEST(PhaseQuota, OfGpipeWaitsBetweenItsPasses)
{
    // Stage 0 of 2 with 3 micro-batches: its forwards end at 30, the first backward of stage 1 at 60.
    EXPECT_EQ(phaseQuota(gpipe(2, 3), 0, sums()), (PhaseQuota{ 0, 30, 0, 0, 0 }));
    EXPECT_EQ(phaseQuota(gpipe(2, 3), 1, sums()), (PhaseQuota{ 10, 0, 0, 0, 20 }));
}

TEST(PhaseQuota, OfChunksIsThatOfOneChunksPasses)
{
    // (p - 1)(F + B) of a chunk.
    for (int stage = 0; stage < 3; ++stage)
        EXPECT_EQ(total(phaseQuota(interleaved(3, 6, 2), stage, sums())), 2 * 30);
}

TEST(PhaseQuota, OfZeroBubbleLeavesOutTheWeightPassesThatFillIt)
{
    // (p - 1)(F + B - 2 W) with W = 10.
    for (int stage = 0; stage < 3; ++stage)
        EXPECT_EQ(total(phaseQuota(zeroBubbleH1(3, 6), stage, sums(10))), 2 * 10);
}

TEST(PhaseQuota, IsNothingWherePassesOrTheStageAreUnknown)
{
    EXPECT_EQ(total(phaseQuota(gpipe(2, 3), 2, sums())), 0);
    EXPECT_EQ(total(phaseQuota(gpipe(2, 3), 1, {})), 0);
}

} // namespace rankscope::tracing::ledger
