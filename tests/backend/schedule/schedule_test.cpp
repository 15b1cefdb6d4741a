#include "backend/schedule/player.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace rankscope::backend {

using tracing::gpipe;
using tracing::interleaved;
using tracing::oneForwardOneBackward;
using tracing::zeroBubbleH1;

namespace {

/// "F0 F1 B0 B1", with "I" and "W" for the two halves of a split backward and "a", "b" for chunks.
std::string spell(const Schedule& schedule, int stage)
{
    std::string text;
    for (const Action& action : schedule.actions[static_cast<std::size_t>(stage)]) {
        text += text.empty() ? "" : " ";
        text += "FBIW"[static_cast<int>(action.kind)] + std::to_string(action.microBatch);
        if (schedule.chunks > 1)
            text += static_cast<char>('a' + action.chunk);
    }
    return text;
}

} // namespace

TEST(OneForwardOneBackward, ThreeStagesRunTwoOneAndNoForwardsAhead)
{
    const Schedule schedule = oneForwardOneBackward(3, 4);
    EXPECT_EQ(spell(schedule, 0), "F0 F1 F2 B0 F3 B1 B2 B3");
    EXPECT_EQ(spell(schedule, 1), "F0 F1 B0 F2 B1 F3 B2 B3");
    EXPECT_EQ(spell(schedule, 2), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(OneForwardOneBackward, FewerMicroBatchesThanStagesRunAllForwardsAhead)
{
    const Schedule schedule = oneForwardOneBackward(4, 2);
    EXPECT_EQ(spell(schedule, 0), "F0 F1 B0 B1");
    EXPECT_EQ(spell(schedule, 3), "F0 B0 F1 B1");
}

TEST(OneForwardOneBackward, HasNoFaultAndTheBubbleOfTheTextbookForAllSizes)
{
    constexpr std::int64_t kForward = 10, kBackward = 21;
    for (int p = 1; p <= 8; ++p) {
        for (int m = 1; m <= 16; ++m) {
            SCOPED_TRACE("p " + std::to_string(p) + ", m " + std::to_string(m));
            const Schedule schedule = oneForwardOneBackward(p, m);
            ASSERT_EQ(faultOf(schedule), std::nullopt);
            const Played played = play(schedule, { .forward = kForward, .backward = kBackward });
            // Every stage works m (F + B) and idles (p - 1)(F + B).
            EXPECT_EQ(played.duration, (m + p - 1) * (kForward + kBackward));
            for (const Played::Stage& stage : played.stages) {
                EXPECT_EQ(stage.busy, m * (kForward + kBackward));
                EXPECT_EQ(stage.bubble(), (p - 1) * (kForward + kBackward));
            }
        }
    }
}

TEST(OneForwardOneBackward, StageFillsForItsForwardsAndDrainsForItsBackwards)
{
    const Played played = play(oneForwardOneBackward(4, 8), { .forward = 10, .backward = 20 });
    for (int stage = 0; stage < 4; ++stage) {
        const Played::Stage& of = played.stages[static_cast<std::size_t>(stage)];
        // Quota of stage s: fill s F, warm and cool (p - 1 - s)(F + B), drain s B.
        EXPECT_EQ(of.fill, stage * 10);
        EXPECT_EQ(of.steady, (3 - stage) * 30);
        EXPECT_EQ(of.drain, stage * 20);
    }
}

TEST(OneForwardOneBackward, StageKeepsAtMostAsManyMicroBatchesAsStagesFollowIt)
{
    for (int p = 1; p <= 8; ++p) {
        for (int m = 1; m <= 16; ++m) {
            const Schedule schedule = oneForwardOneBackward(p, m);
            for (int stage = 0; stage < p; ++stage)
                EXPECT_EQ(peakActivations(schedule, stage), std::min(p - stage, m));
        }
    }
}

TEST(Gpipe, RunsAllForwardsFirstAndKeepsEveryMicroBatchForTheBubbleOfOneForwardOneBackward)
{
    EXPECT_EQ(spell(gpipe(2, 3), 0), "F0 F1 F2 B0 B1 B2");
    for (int p = 1; p <= 8; ++p) {
        for (int m = 1; m <= 16; ++m) {
            SCOPED_TRACE("p " + std::to_string(p) + ", m " + std::to_string(m));
            const Schedule schedule = gpipe(p, m);
            ASSERT_EQ(faultOf(schedule), std::nullopt);
            EXPECT_EQ(play(schedule, { .forward = 10, .backward = 21 }).duration, (m + p - 1) * 31);
            EXPECT_EQ(peakActivations(schedule, p - 1), m);
        }
    }
}

TEST(Interleaved, TwoStagesOfTwoChunksTakeMicroBatchesInPairs)
{
    // Ahead: 2 (p - 1 - s) + (v - 1) p = 4 and 2.
    const Schedule schedule = interleaved(2, 4, 2);
    EXPECT_EQ(spell(schedule, 0), "F0a F1a F0b F1b F2a B0b F3a B1b F2b B0a F3b B1a B2b B3b B2a B3a");
    EXPECT_EQ(spell(schedule, 1), "F0a F1a F0b B0b F1b B1b F2a B0a F3a B1a F2b B2b F3b B3b B2a B3a");
}

TEST(Interleaved, HasNoFaultAndItsChunksDivideTheBubble)
{
    for (int p = 2; p <= 6; ++p) {
        for (int v = 1; v <= 4; ++v) {
            for (int m = p; m <= 4 * p; m += p) {
                SCOPED_TRACE("p " + std::to_string(p) + ", m " + std::to_string(m) + ", v " + std::to_string(v));
                const Schedule schedule = interleaved(p, m, v);
                ASSERT_EQ(faultOf(schedule), std::nullopt);
                // A chunk's F and B are 10 and 20: a stage works m v 30 and idles (p - 1)(v 10 + v 20) / v.
                const Played played = play(schedule, { .forward = 10, .backward = 20 });
                EXPECT_EQ(played.duration, m * v * 30 + (p - 1) * 30);
                for (const Played::Stage& stage : played.stages)
                    EXPECT_EQ(stage.bubble(), (p - 1) * 30);
                // One chunk more than it runs ahead, at most.
                EXPECT_EQ(peakActivations(schedule, 0), std::min(m * v, 2 * (p - 1) + (v - 1) * p + 1));
            }
        }
    }
}

TEST(ZeroBubble, WeightGradientsOfStageSWaitForSMicroBatches)
{
    const Schedule schedule = zeroBubbleH1(3, 4);
    EXPECT_EQ(spell(schedule, 0), "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
    EXPECT_EQ(spell(schedule, 1), "F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3");
    EXPECT_EQ(spell(schedule, 2), "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3");
}

TEST(ZeroBubble, HasNoFaultAndIdlesLessByTwoWeightPartsAStage)
{
    // F = 10, B = 20 with W = 10: (p - 1)(F + B - 2 W) = (p - 1) 10.
    for (int p = 1; p <= 8; ++p) {
        for (int m = 1; m <= 20; ++m) {
            SCOPED_TRACE("p " + std::to_string(p) + ", m " + std::to_string(m));
            const Schedule schedule = zeroBubbleH1(p, m);
            ASSERT_EQ(faultOf(schedule), std::nullopt);
            const Played played = play(schedule, { .forward = 10, .backward = 20, .weight = 10 });
            if (m >= p) {
                EXPECT_EQ(played.duration, m * 30 + (p - 1) * 10);
            }
            for (int stage = 0; stage < p; ++stage)
                EXPECT_EQ(peakActivations(schedule, stage), std::min(p, m)) << stage;
        }
    }
}

TEST(Schedules, AreFoundByNameUnlessTheirSizesCannotBe)
{
    for (const std::string_view name : tracing::scheduleNames()) {
        const auto schedule = tracing::scheduleByName(name, 2, 4, 2);
        ASSERT_TRUE(schedule) << name;
        EXPECT_EQ(schedule->name, name);
        EXPECT_EQ(faultOf(*schedule), std::nullopt);
    }
    EXPECT_FALSE(tracing::scheduleByName("dual", 2, 4, 1));
    EXPECT_FALSE(tracing::scheduleByName("interleaved", 4, 6, 2));
}

TEST(Player, TransferDelaysWhatNeedsIt)
{
    // F0 on stage 0 ends at 10, arrives at 15; F0 and B0 there end at 45; the gradient arrives at 50, B0 ends at 70.
    const Played played = play(oneForwardOneBackward(2, 1), { .forward = 10, .backward = 20, .transfer = 5 });
    EXPECT_EQ(played.duration, 70);
    EXPECT_EQ(played.stages[0].steady, 40);
    EXPECT_EQ(played.stages[1].fill, 15);
    EXPECT_EQ(played.stages[1].drain, 25);
}

TEST(Player, NamesABackwardBeforeItsForward)
{
    Schedule schedule = oneForwardOneBackward(2, 2);
    std::swap(schedule.actions[1][0], schedule.actions[1][1]);
    EXPECT_EQ(faultOf(schedule), "backward of micro-batch 0 on stage 1 comes before its forward");
}

TEST(Player, NamesWeightGradientsBeforeThoseOfInputs)
{
    Schedule schedule = zeroBubbleH1(2, 1);
    std::swap(schedule.actions[0][1], schedule.actions[0][2]);
    EXPECT_EQ(faultOf(schedule), "weight gradients of micro-batch 0 on stage 0 comes before its input gradients");
    schedule = zeroBubbleH1(2, 1);
    schedule.actions[0].pop_back();
    EXPECT_EQ(faultOf(schedule), "stage 0 leaves out an action");
}

TEST(Player, NamesAnActionThatIsMissingOrDoubled)
{
    Schedule missing = oneForwardOneBackward(2, 2);
    missing.actions[0].pop_back();
    EXPECT_EQ(faultOf(missing), "stage 0 leaves out an action");
    Schedule doubled = oneForwardOneBackward(2, 2);
    doubled.actions[0].push_back(doubled.actions[0].back());
    EXPECT_EQ(faultOf(doubled), "backward of micro-batch 1 on stage 0 comes twice");
}

TEST(Player, FindsStagesThatWaitForEachOther)
{
    // Stage 0 wants the gradient of micro-batch 0 before it sends micro-batch 1; stage 1 wants both before any
    // backward.
    Schedule schedule{ .name = "knot", .stages = 2, .microBatches = 2, .chunks = 1, .actions = {} };
    using enum ActionKind;
    schedule.actions.push_back({ { Forward, 0, 0 }, { Backward, 0, 0 }, { Forward, 1, 0 }, { Backward, 1, 0 } });
    schedule.actions.push_back({ { Forward, 0, 0 }, { Forward, 1, 0 }, { Backward, 0, 0 }, { Backward, 1, 0 } });
    EXPECT_EQ(faultOf(schedule), "backward of micro-batch 0 on stage 0 waits for ever");
}

} // namespace rankscope::backend
