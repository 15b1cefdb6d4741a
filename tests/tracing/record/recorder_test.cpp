#include "tests/support/session_folder.h"

#include "tracing/record/command_file.h"
#include "tracing/record/recorder.h"

#include <gtest/gtest.h>
#include <thread>

namespace rankscope::tracing {

namespace {

Recorder::Options optionsFor(const SessionFolder& session)
{
    Recorder::Options options;
    options.sessionDir = session.path();
    options.rank = 1;
    options.worldSize = 2;
    options.ringBytes = 256u << 10; // 4,096 records
    return options;
}

} // namespace

TEST(Recorder, WithoutASessionEveryCallIsANoOp)
{
    const auto recorder = Recorder::open({});
    EXPECT_FALSE(recorder->isOn());
    const LocalName name = recorder->name("matmul");
    auto span = recorder->kernel({ .name = name });
    span.end();
    recorder->counter(name, 1);
    EXPECT_EQ(recorder->pollCommand(), std::nullopt);
}

TEST(Recorder, AnUnusableSessionTurnsRecordingOffInOneLine)
{
    Recorder::Options options;
    options.sessionDir = "/nowhere/at/all";
    options.rank = 3;
    testing::internal::CaptureStderr();
    const auto recorder = Recorder::open(options);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_FALSE(recorder->isOn());
    EXPECT_EQ(said, "rankscope: rank 3 is not recorded: record to /nowhere/at/all: No such file or directory\n");
}

TEST(Recorder, OneSpanOfEachKindReadsBack)
{
    const SessionFolder session;
    const auto recorder = Recorder::open(optionsFor(session));
    ASSERT_TRUE(recorder->isOn());
    const LocalName matmul = recorder->name("matmul");
    const LocalName loss = recorder->name("loss [nats]");
    const auto group = recorder->communicator("dp 0", Dimension::Data, { 0, 1 });
    {
        auto step = recorder->range({ .name = matmul, .kind = RangeKind::Step, .step = 7 });
        auto kernel = recorder->kernel({ .name = matmul,
            .pass = Pass::Backward,
            .threads = 2,
            .flop = 1e9,
            .bytes = 3e6,
            .microBatch = 5,
            .work = 64 });
        kernel.end();
        kernel.end();
        auto collective = recorder->collective(
            { .op = CollectiveOp::AllReduce, .communicator = group, .sequence = 12, .bytes = 99 });
        collective.end();
        auto bubble
            = recorder->bubble({ .phase = BubblePhase::Drain, .next = Pass::Backward, .stage = 1, .awaitedRank = 0 });
        bubble.end();
        recorder->counter(loss, 2.5);
        auto cancelled = recorder->kernel({ .name = matmul });
        cancelled.cancel();
    }

    const auto rings = session.files(kRingSuffix);
    ASSERT_EQ(rings.size(), 1u);
    RingView ring(rings[0]);
    ASSERT_EQ(ring.head(), 5u);
    const Record& kernel = ring.record(0);
    EXPECT_EQ(kernel.kind, static_cast<std::uint8_t>(RecordKind::Kernel));
    EXPECT_EQ(kernel.detail, static_cast<std::uint8_t>(Pass::Backward));
    EXPECT_EQ(kernel.kernel.flop, 1e9);
    EXPECT_EQ(kernel.kernel.work, 64u);
    EXPECT_EQ(kernel.microBatch, 5);
    EXPECT_EQ(kernel.flags & kHasMicroBatch, kHasMicroBatch);
    EXPECT_LE(kernel.beginTicks, kernel.endTicks);
    const Record& collective = ring.record(1);
    EXPECT_EQ(collective.collective.sequence, 12u);
    EXPECT_EQ(collective.collective.bytes, 99u);
    EXPECT_EQ(collective.flags & kHasPeer, 0);
    EXPECT_EQ(ring.record(2).bubble.awaitedRank, 0);
    EXPECT_EQ(ring.record(2).bubble.stage, 1);
    EXPECT_EQ(ring.record(3).counter.value, 2.5);
    const Record& step = ring.record(4);
    EXPECT_EQ(step.range.step, 7u);
    EXPECT_EQ(step.flags & kHasCpu, kHasCpu);
    EXPECT_LE(step.beginTicks, kernel.beginTicks);
    EXPECT_GE(step.endTicks, ring.record(3).endTicks);
}

TEST(Recorder, NamesAndGroupsAreSaidOnceInTheFactsFile)
{
    const SessionFolder session;
    const auto recorder = Recorder::open(optionsFor(session));
    EXPECT_EQ(recorder->name("matmul"), recorder->name("matmul"));
    EXPECT_EQ(recorder->communicator("dp 0", Dimension::Data, { 0, 1 }),
        recorder->communicator("dp 0", Dimension::Data, { 0, 1 }));
    recorder->provenance("seed", "4");

    const auto files = session.files(kFactsSuffix);
    ASSERT_EQ(files.size(), 1u);
    const FactsRead read = decodeFacts(readFile(files[0]));
    ASSERT_EQ(read.facts.size(), 4u);
    EXPECT_EQ(std::get<ProcessFact>(read.facts[0]).rank, 1);
    EXPECT_EQ(std::get<NameFact>(read.facts[1]).text, "matmul");
    EXPECT_EQ(std::get<CommunicatorFact>(read.facts[2]).name, "dp 0");
    EXPECT_EQ(std::get<ProvenanceFact>(read.facts[3]).key, "seed");
}

TEST(Recorder, AFullRingDropsAndCounts)
{
    const SessionFolder session;
    const auto recorder = Recorder::open(optionsFor(session));
    for (int i = 0; i < 5000; ++i)
        recorder->counter({}, i);

    RingView ring(session.files(kRingSuffix).at(0));
    EXPECT_EQ(ring.header().capacity, 4096u);
    EXPECT_EQ(ring.head(), 4096u);
    EXPECT_EQ(ring.header().dropped.load(), 904u);
    EXPECT_EQ(ring.record(0).counter.value, 0);

    // What the collector takes makes room again.
    ring.header().tail.store(10);
    recorder->counter({}, 7777);
    EXPECT_EQ(ring.head(), 4097u);
    EXPECT_EQ(ring.record(4096).counter.value, 7777);
}

TEST(Recorder, AKernelEndsAtAPassedMomentWithWhatItHadDone)
{
    const SessionFolder session;
    const auto recorder = Recorder::open(optionsFor(session));
    auto kernel = recorder->kernel({ .name = recorder->name("matmul"),
        .pass = Pass::Forward,
        .threads = 2,
        .flop = 1e9,
        .bytes = 3e6,
        .work = 64,
        .copies = 3 });
    const std::uint64_t done = recorder->now();
    while (recorder->now() - done <= recorder->ticksOf(std::chrono::milliseconds(1))) { }
    kernel.endAt(done, { .flop = 2.5e8, .bytes = 1e6, .work = 16 });
    kernel.end(); // has ended

    const auto rings = session.files(kRingSuffix);
    ASSERT_EQ(rings.size(), 1u);
    RingView ring(rings[0]);
    ASSERT_EQ(ring.head(), 1u);
    const Record& record = ring.record(0);
    EXPECT_EQ(record.endTicks, done);
    EXPECT_LE(record.beginTicks, done);
    EXPECT_EQ(record.kernel.flop, 2.5e8);
    EXPECT_EQ(record.kernel.bytes, 1e6);
    EXPECT_EQ(record.kernel.work, 16u);
    EXPECT_EQ(record.kernel.copies, 3u);
}

TEST(Recorder, OpenSpansStandInTheHeaderUntilTheyEnd)
{
    const SessionFolder session;
    const auto recorder = Recorder::open(optionsFor(session));
    auto outer = recorder->range({ .kind = RangeKind::Step, .step = 3 });
    auto moved = recorder->collective({ .op = CollectiveOp::AllReduce, .sequence = 12 });
    RingView ring(session.files(kRingSuffix).at(0));
    OpenSpan carried = std::move(moved);

    EXPECT_EQ(ring.header().open[0].kind, static_cast<std::uint8_t>(RecordKind::Range));
    EXPECT_EQ(ring.header().open[1].collective.sequence, 12u);
    carried.end();
    EXPECT_EQ(ring.header().open[1].kind, 0);
    EXPECT_EQ(ring.header().open[0].range.step, 3u);
}

TEST(Recorder, TheSixtyFifthOpenSpanIsDroppedAndCounted)
{
    const SessionFolder session;
    const auto recorder = Recorder::open(optionsFor(session));
    std::vector<OpenSpan> spans;
    for (int i = 0; i < 65; ++i)
        spans.push_back(recorder->bubble({}));
    RingView ring(session.files(kRingSuffix).at(0));
    EXPECT_EQ(ring.header().dropped.load(), 1u);
    spans.clear();
    EXPECT_EQ(ring.head(), 64u);
}

TEST(Recorder, NestedRangesKnowTheirDepth)
{
    const SessionFolder session;
    const auto recorder = Recorder::open(optionsFor(session));
    {
        auto step = recorder->range({});
        auto forward = recorder->range({});
        forward.end();
        auto backward = recorder->range({});
        auto inner = recorder->range({});
        inner.end();
    }
    // In the order of their ends: forward, inner, backward, step.
    RingView ring(session.files(kRingSuffix).at(0));
    EXPECT_EQ(ring.record(0).range.depth, 1u);
    EXPECT_EQ(ring.record(1).range.depth, 2u);
    EXPECT_EQ(ring.record(2).range.depth, 1u);
    EXPECT_EQ(ring.record(3).range.depth, 0u);
}

TEST(Recorder, EveryThreadHasItsOwnRingAndLosesNothing)
{
    const SessionFolder session;
    const auto recorder = Recorder::open(optionsFor(session));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&recorder, t] {
            const LocalName own = recorder->name("kernel " + std::to_string(t));
            for (std::uint32_t i = 0; i < 1000; ++i) {
                auto span = recorder->kernel({ .name = own, .work = i });
                span.end();
            }
        });
    }
    for (auto& thread : threads)
        thread.join();

    const auto rings = session.files(kRingSuffix);
    ASSERT_EQ(rings.size(), 4u);
    for (const std::string& path : rings) {
        RingView ring(path);
        ASSERT_EQ(ring.head(), 1000u);
        EXPECT_EQ(ring.header().closed.load(), 1u) << "the thread has ended";
        for (std::uint32_t i = 0; i < 1000; ++i) {
            ASSERT_EQ(ring.record(i).kernel.work, i);
            ASSERT_EQ(ring.record(i).name, ring.record(0).name);
        }
    }
}

TEST(Recorder, RanksAsThreadsOfOneProcessRecordApart)
{
    const SessionFolder session;
    auto options = optionsFor(session);
    const auto first = Recorder::open(options);
    options.rank = 0;
    const auto second = Recorder::open(options);
    for (int i = 0; i < 10; ++i) {
        first->counter({}, 1);
        second->counter({}, 0);
    }
    const auto rings = session.files(kRingSuffix);
    ASSERT_EQ(rings.size(), 2u);
    for (const std::string& path : rings) {
        RingView ring(path);
        ASSERT_EQ(ring.head(), 10u);
        EXPECT_EQ(ring.record(9).counter.value, ring.header().rank);
    }
}

TEST(Recorder, CommandsArriveInOrderAndDetailTakesEffect)
{
    const SessionFolder session;
    const auto recorder = Recorder::open(optionsFor(session));
    ASSERT_TRUE(appendCommand(session.path(), "detail 1"));
    ASSERT_TRUE(appendCommand(session.path(), "stop"));

    EXPECT_EQ(recorder->pollCommand(), "detail 1");
    EXPECT_EQ(recorder->pollCommand(), "stop");
    EXPECT_EQ(recorder->pollCommand(), std::nullopt);
    recorder->kernel({}).end();
    recorder->range({}).end();
    // Coarse detail: the range alone.
    RingView ring(session.files(kRingSuffix).at(0));
    ASSERT_EQ(ring.head(), 1u);
    EXPECT_EQ(ring.record(0).kind, static_cast<std::uint8_t>(RecordKind::Range));
}

} // namespace rankscope::tracing
