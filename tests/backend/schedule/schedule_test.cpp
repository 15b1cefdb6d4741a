#include "backend/schedule/player.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace rankscope::backend {

namespace {

/// "F0 F1 B0 B1"
std::string spell(const std::vector<Action>& actions)
{
    std::string text;
    for (const Action& action : actions) {
        text += text.empty() ? "" : " ";
        text += (action.kind == ActionKind::Forward ? "F" : "B") + std::to_string(action.microBatch);
    }
    return text;
}

} // namespace

TEST(OneForwardOneBackward, ThreeStagesRunTwoOneAndNoForwardsAhead)
{
    const Schedule schedule = oneForwardOneBackward(3, 4);
    EXPECT_EQ(spell(schedule.actions[0]), "F0 F1 F2 B0 F3 B1 B2 B3");
    EXPECT_EQ(spell(schedule.actions[1]), "F0 F1 B0 F2 B1 F3 B2 B3");
    EXPECT_EQ(spell(schedule.actions[2]), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(OneForwardOneBackward, FewerMicroBatchesThanStagesRunAllForwardsAhead)
{
    const Schedule schedule = oneForwardOneBackward(4, 2);
    EXPECT_EQ(spell(schedule.actions[0]), "F0 F1 B0 B1");
    EXPECT_EQ(spell(schedule.actions[3]), "F0 B0 F1 B1");
}

TEST(OneForwardOneBackward, HasNoFaultAndTheBubbleOfTheTextbookForAllSizes)
{
    constexpr std::int64_t kForward = 10, kBackward = 21;
    for (int p = 1; p <= 8; ++p) {
        for (int m = 1; m <= 16; ++m) {
            SCOPED_TRACE("p " + std::to_string(p) + ", m " + std::to_string(m));
            const Schedule schedule = oneForwardOneBackward(p, m);
            ASSERT_EQ(faultOf(schedule), std::nullopt);
            const Played played = play(schedule, { .forward = kForward, .backward = kBackward, .transfer = 0 });
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
    const Played played = play(oneForwardOneBackward(4, 8), { .forward = 10, .backward = 20, .transfer = 0 });
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
    Schedule schedule{ .name = "knot", .stages = 2, .microBatches = 2, .actions = {} };
    using enum ActionKind;
    schedule.actions.push_back({ { Forward, 0 }, { Backward, 0 }, { Forward, 1 }, { Backward, 1 } });
    schedule.actions.push_back({ { Forward, 0 }, { Forward, 1 }, { Backward, 0 }, { Backward, 1 } });
    EXPECT_EQ(faultOf(schedule), "backward of micro-batch 0 on stage 0 waits for ever");
}

} // namespace rankscope::backend
