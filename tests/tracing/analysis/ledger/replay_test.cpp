#include "tests/tracing/analysis/ledger/golden_case.h"
#include "tracing/analysis/ledger/ledger.h"
#include "tracing/analysis/ledger/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace rankscope::tracing::ledger {

namespace {

using rapidjson::Value;

std::string goldenPath(const std::string& name)
{
    const char* traces = std::getenv("RANKSCOPE_TRACES");
    return (std::filesystem::path(traces ? traces : "../shared/traces") / "ledger_golden" / name).string();
}

ReplayChange changeOf(const Value& value)
{
    ReplayChange change;
    if (value.HasMember("drop")) {
        for (const Value& item : value["drop"].GetArray())
            change.dropped.insert({ item[0].GetInt(),
                std::string(item[1].GetString()) == "data" ? AnnotationKind::Data : AnnotationKind::Checkpoint });
    }
    change.onCpu = value.HasMember("on_cpu") && value["on_cpu"].GetBool();
    return change;
}

ReplayResult replay(const LedgerInput& input, const LedgerResult& recorded, const ReplayChange& change)
{
    return replay(ReplayGraph(input, recorded), change);
}

class WhatIf : public testing::TestWithParam<const char*> { };

/// Rank 0 computes 100 and joins an all-reduce; rank 1 computes 300 first. Transfer 20.
LedgerInput lateRankOne()
{
    LedgerInput input;
    input.instances.push_back({ 1, 0, CollectiveOp::AllReduce, Dimension::Data, { 0, 1 }, {}, {}, {}, {}, 0 });
    for (std::int32_t r = 0; r < 2; ++r) {
        RankInput rank;
        rank.rank = r;
        rank.stretches = { { 0, 420, {} } };
        const Ns computed = r == 0 ? 100 : 300;
        ComputeOp first, second;
        first.end = computed;
        second.begin = 320;
        second.end = r == 0 ? 420 : 360;
        rank.compute = { first, second };
        rank.parts = { { computed, 320, 0, {}, {}, false } };
        input.ranks.push_back(rank);
    }
    return input;
}

} // namespace

TEST_P(WhatIf, ReplayGivesTheEndAndWaitsWorkedOutByHand)
{
    if (!std::filesystem::exists(goldenPath(GetParam())))
        GTEST_SKIP() << "no " << goldenPath(GetParam()) << "; set RANKSCOPE_TRACES to the folder of real traces";
    const GoldenCase golden = readGoldenCase(goldenPath(GetParam()));
    const LedgerResult ledger = computeLedger(golden.input);
    for (const Value& expected : golden.json["expect_what_if"].GetArray()) {
        const ReplayResult result = replay(golden.input, ledger, changeOf(expected));
        EXPECT_EQ(result.end, expected["end"].GetInt64()) << expected["change"].GetString();
        if (!expected.HasMember("wait"))
            continue;
        for (const auto& member : expected["wait"].GetObject()) {
            const std::string name = member.name.GetString();
            const auto dot = name.find('.');
            const std::size_t instance = golden.instanceOf.at(name.substr(dot + 1));
            const auto r = static_cast<std::size_t>(std::atoi(name.c_str()));
            const auto& parts = golden.input.ranks[r].parts;
            const auto part = std::ranges::find(parts, instance, &PartOp::instance) - parts.begin();
            EXPECT_EQ(result.waits[r][static_cast<std::size_t>(part)], member.value.GetInt64()) << name;
        }
    }
}

TEST_P(WhatIf, WithoutAChangeTheRecordedTimesComeOut)
{
    if (!std::filesystem::exists(goldenPath(GetParam())))
        GTEST_SKIP() << "no " << goldenPath(GetParam()) << "; set RANKSCOPE_TRACES to the folder of real traces";
    const GoldenCase golden = readGoldenCase(goldenPath(GetParam()));
    const ReplayResult result = replay(golden.input, computeLedger(golden.input), {});
    for (std::size_t r = 0; r < golden.input.ranks.size(); ++r) {
        for (std::size_t i = 0; i < golden.input.ranks[r].compute.size(); ++i) {
            EXPECT_EQ(result.compute(r)[i].begin, golden.input.ranks[r].compute[i].begin);
            EXPECT_EQ(result.compute(r)[i].end, golden.input.ranks[r].compute[i].end);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Golden, WhatIf,
    testing::Values(
        "i_pipeline_1f1b.json", "ii_wait_chain.json", "iv_concurrent_overlap.json", "viii_descheduled.json"),
    [](const auto& parameter) { return std::filesystem::path(parameter.param).stem().string(); });

TEST(Replay, AFasterLateRankShortensTheRunByWhatItGains)
{
    // Rank 1's kernels at half length: first 150, exit 170, then 20; rank 0: first 100, wait 50, exit 170, then 100.
    const LedgerInput input = lateRankOne();
    ReplayChange change;
    change.computeTimes[1] = { 1, 2 };
    const ReplayResult result = replay(input, computeLedger(input), change);
    EXPECT_EQ(result.waits[0][0], 50);
    EXPECT_EQ(result.end, 270);
}

TEST(Replay, ChosenKernelsAndWhatIsComputedAgainChangeAlone)
{
    // Rank 1's first kernel, not its second, at half length: as above but for its end. Without it: rank 0 is the late
    // one.
    LedgerInput input = lateRankOne();
    ReplayChange change;
    change.chosenKernels[1] = { { true }, { 1, 2 } };
    const ReplayResult half = replay(input, computeLedger(input), change);
    EXPECT_EQ(half.end, 270);
    EXPECT_EQ(half.compute(1)[1].end - half.compute(1)[1].begin, 40);
    input.ranks[1].compute[0].pass = Pass::Recompute;
    change = {};
    change.recomputed = { 0, 1 };
    EXPECT_EQ(replay(input, computeLedger(input), change).end, 220);
}

TEST(Replay, AMessageSentAheadTakesItsWholeWayOnceItsReceiverComesEarlier)
{
    // Rank 0 sends at 10 and again at 20, each takes 50. Rank 1 asks for the first at 40 and has it at 60; it computes
    // until 99 and finds the second there at 100. Without its first 40 it waits from 0 to 60, and is there 40 later as
    // before.
    LedgerInput input;
    input.ranks.resize(2);
    for (std::int32_t r = 0; r < 2; ++r) {
        input.ranks[static_cast<std::size_t>(r)].rank = r;
        input.ranks[static_cast<std::size_t>(r)].stretches = { { 0, 130, {} } };
    }
    const auto kernel = [&](std::size_t rank, Ns begin, Ns end) {
        ComputeOp op;
        op.begin = begin;
        op.end = end;
        input.ranks[rank].compute.push_back(op);
    };
    for (std::int64_t i = 0; i < 2; ++i) {
        Instance message{ 1, i, CollectiveOp::Send, Dimension::Pipeline, { 0, 1 }, {}, 0, 1, {}, 0 };
        input.instances.push_back(message);
    }
    kernel(0, 0, 10);
    kernel(1, 0, 40);
    kernel(1, 60, 99);
    kernel(1, 100, 130);
    input.ranks[0].parts = { { 10, 60, 0, {}, {}, false }, { 20, 70, 1, {}, {}, false } };
    input.ranks[1].parts = { { 40, 60, 0, {}, {}, false }, { 99, 100, 1, {}, {}, false } };
    const LedgerResult ledger = computeLedger(input);
    EXPECT_EQ(replay(input, ledger, {}).end, 130);
    ReplayChange change;
    change.chosenKernels[1] = { { true, true }, { 0, 1 } };
    // Both first kernels gone: the second message is there at 70 and the last kernel ends at 100.
    EXPECT_EQ(replay(input, ledger, change).end, 100);
    change.transferOfDimension[Dimension::Pipeline] = { 1, 2 };
    EXPECT_EQ(replay(input, ledger, change).end, 75); // there at 45
}

TEST(Replay, OperationsOfNoLengthAtOneInstantKeepTheirPlace)
{
    // A kernel from 0 to 50; at 80 two copies of no length and a kernel that is numbered before them. Nothing ends at
    // 80 but the copies, which the kernel does not wait for: it keeps its gap of 30 after the first.
    LedgerInput input;
    RankInput rank;
    rank.stretches = { { 0, 200, {} } };
    ComputeOp first, second, third;
    first.end = 50;
    second.begin = 80;
    second.end = 120;
    third.begin = 120;
    third.end = 200;
    rank.compute = { first, second, third };
    rank.copies = { { 80, 80, {} }, { 80, 80, {} } };
    input.ranks = { rank };
    const LedgerResult ledger = computeLedger(input);
    const ReplayResult same = replay(input, ledger, {});
    EXPECT_EQ(same.compute(0)[1].begin, 80);
    EXPECT_EQ(same.copies(0)[0].begin, 80);
    EXPECT_EQ(same.copies(0)[1].begin, 80);
    EXPECT_EQ(same.end, 200);
    ReplayChange change;
    change.chosenKernels[0] = { { true }, { 0, 1 } };
    const ReplayResult earlier = replay(input, ledger, change); // the first kernel gone: all the rest 50 earlier
    EXPECT_EQ(earlier.compute(0)[1].begin, 30);
    EXPECT_EQ(earlier.copies(0)[1].begin, 30);
    EXPECT_EQ(earlier.end, 150);
}

TEST(Replay, WhatBeginsWhenSeveralEndTogetherWaitsForTheLastOfThem)
{
    // Two lanes end at 100 together, the second kernel's double length makes it 200; what begins at 110 keeps its 10.
    LedgerInput input;
    RankInput rank;
    rank.stretches = { { 0, 120, {} } };
    ComputeOp first, second, third;
    first.end = second.end = 100;
    second.lane = 1;
    third.begin = 110;
    third.end = 120;
    rank.compute = { first, second, third };
    input.ranks = { rank };
    ReplayChange change;
    change.chosenKernels[0] = { { false, true }, { 2, 1 } };
    const ReplayResult result = replay(input, computeLedger(input), change);
    EXPECT_EQ(result.compute(0)[0].end, 100);
    EXPECT_EQ(result.compute(0)[2].begin, 210);
    EXPECT_EQ(result.end, 220);
}

TEST(Replay, FreeTransferTakesTheTransferAway)
{
    const LedgerInput input = lateRankOne();
    ReplayChange change;
    change.transferOfDimension[Dimension::Data] = { 0, 1 };
    EXPECT_EQ(replay(input, computeLedger(input), change).end, 400);
}

TEST(Replay, AGapWithALabelKeepsTheShareThatTheChangeLeaves)
{
    // Rank 1's kernel begins 200 late because the host launches it at 180: host 180, launch 20. At half the host time
    // it begins at 110, enters at 210, both leave at 230; rank 0 then computes 100.
    LedgerInput input = lateRankOne();
    ComputeOp& late = input.ranks[1].compute[0];
    late.begin = 200;
    late.launch = 180;
    ReplayChange change;
    change.gapTimes[{ 1, Label::Host }] = { { 0, 420, { 1, 2 } } };
    EXPECT_EQ(replay(input, computeLedger(input), change).end, 330);
    change.gapTimes[{ 1, Label::Host }] = { { 0, 420, { 0, 1 } } };
    change.gapTimes[{ 1, Label::Launch }] = { { 0, 420, { 0, 1 } } };
    EXPECT_EQ(replay(input, computeLedger(input), change).end, 220);
    // Only the first 80 of the host's 180 go: 100 stay, and the launch.
    change.gapTimes = { { { 1, Label::Host }, { { 0, 80, { 0, 1 } } } } };
    EXPECT_EQ(replay(input, computeLedger(input), change).end, 340);
}

TEST(CriticalPath, AWaitHopsToTheLateRankAndTheSegmentsSumToTheWindow)
{
    // Back from 420 on rank 0: compute 100, transfer 20, then the wait's end hops to rank 1 and its compute of 300.
    const auto path = criticalPath(computeLedger(lateRankOne()), 0, 420);
    ASSERT_EQ(path.size(), 3u);
    EXPECT_EQ(path[0].rank, 1);
    EXPECT_EQ(path[0].end, 300);
    EXPECT_EQ(path[0].label, Label::Compute);
    EXPECT_EQ(path[1].rank, 0);
    EXPECT_EQ(path[1].label, Label::Transfer);
    EXPECT_EQ(path[2].rank, 0);
    Ns sum = 0, at = 0;
    for (const PathSegment& segment : path) {
        EXPECT_EQ(segment.begin, at);
        at = segment.end;
        sum += segment.end - segment.begin;
    }
    EXPECT_EQ(sum, 420);
}

} // namespace rankscope::tracing::ledger
