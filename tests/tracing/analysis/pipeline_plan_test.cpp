#include "tracing/analysis/scenario/pipeline_plan.h"

#include "tracing/analysis/ledger/ledger.h"

#include <gtest/gtest.h>

namespace rankscope::tracing::scenario {

namespace {

/// Two stages, F 10, B 20 of which 8 are weight gradients, messages of 5, and 3 after the last pass.
PipelineTimes twoStages()
{
    const StageTimes stage{ 0, 10, 20, 8, { 5, 0 }, { 5, 0 } };
    return { { stage, stage }, 3, 103 };
}

void addKernel(ledger::RankInput& rank, Pass pass, int microBatch, std::int64_t begin, std::int64_t end)
{
    ledger::ComputeOp op;
    op.begin = begin;
    op.end = end;
    op.pass = pass;
    op.microBatch = microBatch;
    rank.compute.push_back(op);
}

/// 1F1B of two micro-batches with twoStages' times; messages are sent ahead.
ledger::LedgerInput recorded()
{
    ledger::LedgerInput input;
    input.pipeline = oneForwardOneBackward(2, 2);
    input.ranks.resize(2);
    for (std::int32_t r = 0; r < 2; ++r) {
        input.ranks[static_cast<std::size_t>(r)].rank = r;
        input.ranks[static_cast<std::size_t>(r)].stage = r;
        input.ranks[static_cast<std::size_t>(r)].stretches = { { 0, 103, 1 } };
    }
    addKernel(input.ranks[0], Pass::Forward, 0, 0, 10);
    addKernel(input.ranks[0], Pass::Forward, 1, 10, 20);
    addKernel(input.ranks[0], Pass::Backward, 0, 50, 70);
    addKernel(input.ranks[0], Pass::Backward, 1, 80, 100);
    addKernel(input.ranks[1], Pass::Forward, 0, 15, 25);
    addKernel(input.ranks[1], Pass::Backward, 0, 25, 45);
    addKernel(input.ranks[1], Pass::Forward, 1, 45, 55);
    addKernel(input.ranks[1], Pass::Backward, 1, 55, 75);
    const auto message = [&](std::int32_t from, Window sent, Window received) {
        ledger::Instance instance;
        instance.communicator = from;
        instance.sequence = std::ssize(input.instances);
        instance.op = CollectiveOp::Send;
        instance.dimension = Dimension::Pipeline;
        instance.source = from;
        instance.destination = 1 - from;
        instance.members = { from, 1 - from };
        const std::size_t index = input.instances.size();
        input.instances.push_back(instance);
        input.ranks[static_cast<std::size_t>(from)].parts.push_back({ sent.beginNs, sent.endNs, index, {}, {}, false });
        input.ranks[static_cast<std::size_t>(1 - from)].parts.push_back(
            { received.beginNs, received.endNs, index, {}, {}, false });
    };
    message(0, { 10, 15 }, { 0, 15 });
    message(0, { 20, 25 }, { 45, 45 });
    message(1, { 45, 50 }, { 20, 50 });
    message(1, { 75, 80 }, { 70, 80 });
    return input;
}

bool none(std::size_t, std::size_t) { return false; }

} // namespace

TEST(PipelinePlan, PlaysAScheduleWithItsMessages)
{
    // Stage 1: F0 15-25, B0 25-45, F1 45-55, B1 55-75; stage 0: B0 50-70, B1 80-100.
    EXPECT_DOUBLE_EQ(playedStepNs(twoStages(), oneForwardOneBackward(2, 2)), 103);
    // Stage 1: F0 15-25, then B0 35-55 behind F1; stage 0: B0 60-80, B1 80-100.
    EXPECT_DOUBLE_EQ(playedStepNs(twoStages(), gpipe(2, 2)), 103);
    // One more: stage 0 does B0 50-70, F2 70-80, B1 80-100; stage 1 F2 85-95, B2 95-115; stage 0 B2 120-140.
    EXPECT_DOUBLE_EQ(playedStepNs(twoStages(), oneForwardOneBackward(2, 3)), 143);
}

TEST(PipelinePlan, AMessageWaitsForItsLink)
{
    // F1 is over at 20 and leaves at 40, arrives at 70; with B0 of stage 1 over at 70 it is F1 70-80, B1 80-100, and at
    // stage 0, 5 later, 105-125.
    PipelineTimes times = twoStages();
    times.stages[0].onwards = { 30, 30 };
    EXPECT_DOUBLE_EQ(playedStepNs(times, oneForwardOneBackward(2, 2)), 128);
}

TEST(PipelinePlan, MeasuresPassesAndMessagesWithoutTheWaiting)
{
    const ledger::LedgerInput input = recorded();
    const std::vector<Window> steps{ { 0, 103 } };
    const auto times = pipelineTimes(input, ledger::computeLedger(input), steps, none);
    ASSERT_TRUE(times) << times.error().message();
    for (const StageTimes& stage : times->stages) {
        EXPECT_DOUBLE_EQ(stage.beforeNs, 0);
        EXPECT_DOUBLE_EQ(stage.forwardNs, 10);
        EXPECT_DOUBLE_EQ(stage.backwardNs, 20);
    }
    EXPECT_DOUBLE_EQ(times->stages[0].onwards.ns, 5);
    EXPECT_DOUBLE_EQ(times->stages[1].backwards.ns, 5);
    EXPECT_DOUBLE_EQ(times->stages[0].onwards.occupiedNs, 0);
    EXPECT_DOUBLE_EQ(times->afterNs, 3);
    EXPECT_DOUBLE_EQ(playedStepNs(*times, *input.pipeline), times->recordedNs);
}

TEST(PipelinePlan, OnlyAMessageThatIsHeldUpShowsThatALinkIsOccupied)
{
    // Both fly for 15, at once: they arrive 10 apart because they were sent 10 apart.
    ledger::LedgerInput input = recorded();
    input.ranks[0].parts[0].end = input.ranks[1].parts[0].end = 25;
    input.ranks[0].parts[1].end = 35;
    const std::vector<Window> steps{ { 0, 103 } };
    const auto occupied
        = [&] { return pipelineTimes(input, ledger::computeLedger(input), steps, none)->stages[0].onwards.occupiedNs; };
    EXPECT_DOUBLE_EQ(occupied(), 0);
    // The second takes 20, 5 longer than alone: it followed the first by 15.
    input.ranks[0].parts[1].end = 40;
    EXPECT_DOUBLE_EQ(occupied(), 15);
    // Where two others in the same haste are not, it is by chance.
    for (const std::int64_t sent : { 30, 35 }) {
        ledger::Instance again = input.instances[1];
        again.sequence = sent;
        input.ranks[0].parts.push_back({ sent, sent + 15, input.instances.size(), {}, {}, false });
        input.ranks[1].parts.push_back({ 76, 76, input.instances.size(), {}, {}, false });
        input.instances.push_back(again);
    }
    EXPECT_DOUBLE_EQ(occupied(), 0);
}

TEST(PipelinePlan, WantsAPipelineAndMicroBatches)
{
    ledger::LedgerInput plain = recorded(), unnamed = recorded();
    plain.pipeline.reset();
    for (ledger::RankInput& rank : unnamed.ranks) {
        for (ledger::ComputeOp& op : rank.compute)
            op.microBatch = std::nullopt;
    }
    const std::vector<Window> steps{ { 0, 103 } };
    EXPECT_FALSE(pipelineTimes(plain, ledger::computeLedger(plain), steps, none));
    EXPECT_FALSE(pipelineTimes(unnamed, ledger::computeLedger(unnamed), steps, none));
}

} // namespace rankscope::tracing::scenario
