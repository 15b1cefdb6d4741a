#include "tests/tracing/store/store_fixture.h"

#include <cmath>

namespace rankscope::tracing {

using RoundTrip = StoreTest;

TEST_F(RoundTrip, RunAndRankComeBackAsTheyWere)
{
    auto writer = create();
    ASSERT_TRUE(writer.setRun({ "sample", "rankscope", 1'700'000'000'000'000'000, 4, 2, false }));
    ASSERT_TRUE(writer.putRank({ 3, "node1", "CPU", 1, 0, 0, std::nullopt, 120, 6.4e10, 4711 }));
    ASSERT_TRUE(writer.putRank(
        { 0, "node0", "CPU", std::nullopt, std::nullopt, std::nullopt, std::nullopt, 0, std::nullopt, 1 }));

    auto reader = read();
    const RunInfo run = *reader.run();
    EXPECT_EQ(run.name, "sample");
    EXPECT_EQ(run.source, "rankscope");
    EXPECT_EQ(run.originUtcNs, 1'700'000'000'000'000'000);
    EXPECT_EQ(run.worldSize, 4);
    EXPECT_EQ(run.coresPerNode, 2);
    EXPECT_FALSE(run.finished);

    const auto ranks = *reader.ranks();
    ASSERT_EQ(ranks.size(), 2u);
    EXPECT_EQ(ranks[0].node, "node0");
    EXPECT_FALSE(ranks[0].stage);
    EXPECT_FALSE(ranks[0].peakFlops);
    EXPECT_EQ(ranks[1].rank, 3);
    EXPECT_EQ(ranks[1].device, "CPU");
    EXPECT_EQ(ranks[1].stage, 1);
    EXPECT_EQ(ranks[1].dp, 0);
    EXPECT_EQ(ranks[1].tp, 0);
    EXPECT_FALSE(ranks[1].ep);
    EXPECT_EQ(ranks[1].clockErrorNs, 120);
    EXPECT_EQ(ranks[1].peakFlops, 6.4e10);
    EXPECT_EQ(ranks[1].processId, 4711);
}

TEST_F(RoundTrip, AKernelKeepsWhatIsKnownAndWhatIsNot)
{
    auto writer = create();
    const NameId name = *writer.name("matmul");
    const KernelSignature signature{ name, Pass::Backward, DataType::Float32, 2, 1'000'000, std::nullopt, 500'000 };
    const LaneId lane = computeLane(writer);
    const std::vector<Kernel> rows{ { {}, 100, 350, *writer.signature(signature), 480, 7, 64, 9 },
        { {}, 400, 400, SignatureId{}, std::nullopt, std::nullopt, std::nullopt, std::nullopt } };
    ASSERT_TRUE(writer.append(lane, std::span<const Kernel>(rows)));

    auto reader = read();
    const auto kernels = *reader.kernels(lane, kAlways);
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels[0].lane, lane);
    EXPECT_EQ(kernels[0].beginNs, 100);
    EXPECT_EQ(kernels[0].endNs, 350);
    EXPECT_EQ(kernels[0].cpuNs, 480);
    EXPECT_EQ(kernels[0].microBatch, 7);
    EXPECT_EQ(kernels[0].work, 64);
    EXPECT_EQ(kernels[0].correlation, 9);
    EXPECT_EQ(kernels[1].endNs, 400);
    EXPECT_FALSE(kernels[1].cpuNs || kernels[1].microBatch || kernels[1].work || kernels[1].correlation);

    const auto signatures = *reader.signatures();
    EXPECT_EQ(signatures.at(static_cast<std::size_t>(raw(kernels[0].signature))), signature);
    EXPECT_EQ(reader.names()->at(static_cast<std::size_t>(raw(name))), "matmul");
}

TEST_F(RoundTrip, AColumnThatIsEmptyInSomeRunsOfRowsIsKeptInTheOthers)
{
    auto writer = create();
    const LaneId lane = computeLane(writer);
    const auto append = [&](std::vector<Kernel> rows) { return writer.append(lane, std::span<const Kernel>(rows)); };
    ASSERT_TRUE(append({ kernelAt(0, 10) }));
    ASSERT_TRUE(append({ kernelAt(10, 20), { {}, 20, 30, SignatureId{}, 9, std::nullopt, std::nullopt, 77 } }));
    ASSERT_TRUE(append({ kernelAt(30, 40) }));
    const auto kernels = *read().kernels(lane, kAlways);
    ASSERT_EQ(kernels.size(), 4u);
    for (const std::size_t bare : { 0u, 1u, 3u }) {
        EXPECT_FALSE(
            kernels[bare].cpuNs || kernels[bare].microBatch || kernels[bare].work || kernels[bare].correlation);
    }
    EXPECT_EQ(kernels[2].cpuNs, 9);
    EXPECT_FALSE(kernels[2].microBatch || kernels[2].work);
    EXPECT_EQ(kernels[2].correlation, 77);
}

TEST_F(RoundTrip, CopiesAndHostCallsComeBackAsTheyWere)
{
    auto writer = create();
    const NameId name = *writer.name("memcpy");
    const LaneId lane = *writer.lane({ {}, 0, LaneKind::Copy, Dimension::None, "copy", "" });
    const std::vector<Copy> copies{ { {}, 5, 9, name, 4096, 3 } };
    const std::vector<HostCall> calls{ { {}, 1, 2, name, 3 }, { {}, 2, 4, name, std::nullopt } };
    ASSERT_TRUE(writer.append(lane, std::span<const Copy>(copies)));
    ASSERT_TRUE(writer.append(lane, std::span<const HostCall>(calls)));

    auto reader = read();
    const auto copy = reader.copies(lane, kAlways)->at(0);
    EXPECT_EQ(copy.beginNs, 5);
    EXPECT_EQ(copy.endNs, 9);
    EXPECT_EQ(copy.name, name);
    EXPECT_EQ(copy.bytes, 4096);
    EXPECT_EQ(copy.correlation, 3);
    const auto back = *reader.hostCalls(lane, kAlways);
    ASSERT_EQ(back.size(), 2u);
    EXPECT_EQ(back[0].correlation, 3);
    EXPECT_EQ(back[1].endNs, 4);
    EXPECT_FALSE(back[1].correlation);
    std::vector<std::pair<std::int64_t, std::int64_t>>
        launches; // of the two only the first can have launched something
    ASSERT_TRUE(reader.visitLaunches(lane, kAlways, [&](std::span<const TraceReader::Launch> some) {
        for (const TraceReader::Launch& launch : some)
            launches.emplace_back(launch.correlation, launch.beginNs);
    }));
    EXPECT_EQ(launches, (std::vector<std::pair<std::int64_t, std::int64_t>>{ { 3, 1 } }));
}

TEST_F(RoundTrip, ACollectivePartComesBackAsItWas)
{
    auto writer = create();
    const NameId name = *writer.name("gradients");
    const LaneId lane = *writer.lane({ {}, 2, LaneKind::Communication, Dimension::Data, "all-reduce dp", "" });
    const std::vector<CollectivePart> rows{ { {}, 10, 30, name, CollectiveOp::AllReduce, InstanceId{ 5 }, 1 << 20,
        std::nullopt, 1, 12, 77, 88 } };
    ASSERT_TRUE(writer.append(lane, std::span<const CollectivePart>(rows)));

    auto reader = read();
    const CollectivePart part = reader.collectives(lane, kAlways)->at(0);
    EXPECT_EQ(part.name, name);
    EXPECT_EQ(part.op, CollectiveOp::AllReduce);
    EXPECT_EQ(part.instance, InstanceId{ 5 });
    EXPECT_EQ(part.bytes, 1 << 20);
    EXPECT_FALSE(part.peer);
    EXPECT_EQ(part.microBatch, 1);
    EXPECT_EQ(part.cpuNs, 12);
    EXPECT_EQ(part.launchGroup, 77);
    EXPECT_EQ(part.correlation, 88);
}

TEST_F(RoundTrip, BubblesRangesAndCountersComeBackAsTheyWere)
{
    auto writer = create();
    const NameId name = *writer.name("step 1");
    const LaneId lane = computeLane(writer);
    const LaneId loss = *writer.lane({ {}, 0, LaneKind::Counter, Dimension::None, "loss", "nats" });
    const std::vector<Bubble> bubbles{ { {}, 3, 8, BubblePhase::Drain, 1, 2, 0, Pass::Backward } };
    const std::vector<Range> ranges{ { {}, 0, 20, name, RangeKind::Step, 1, 11, std::nullopt, 15 } };
    const std::vector<CounterSample> samples{ { {}, 5, 5.5 }, { {}, 6, 3 }, { {}, 7, std::nan("") } };
    ASSERT_TRUE(writer.append(lane, std::span<const Bubble>(bubbles)));
    ASSERT_TRUE(writer.append(lane, std::span<const Range>(ranges)));
    ASSERT_TRUE(writer.append(loss, std::span<const CounterSample>(samples)));

    auto reader = read();
    const Bubble bubble = reader.bubbles(lane, kAlways)->at(0);
    EXPECT_EQ(bubble.phase, BubblePhase::Drain);
    EXPECT_EQ(bubble.stage, 1);
    EXPECT_EQ(bubble.microBatch, 2);
    EXPECT_EQ(bubble.awaitedRank, 0);
    EXPECT_EQ(bubble.pass, Pass::Backward);
    const Range range = reader.ranges(lane, kAlways)->at(0);
    EXPECT_EQ(range.name, name);
    EXPECT_EQ(range.kind, RangeKind::Step);
    EXPECT_EQ(range.depth, 1);
    EXPECT_EQ(range.step, 11);
    EXPECT_FALSE(range.microBatch);
    EXPECT_EQ(range.cpuNs, 15);
    const auto counters = *reader.counters(loss, { 5, 8 });
    ASSERT_EQ(counters.size(), 3u);
    EXPECT_EQ(counters[0].value, 5.5);
    EXPECT_EQ(counters[1].value, 3);
    EXPECT_TRUE(std::isnan(counters[2].value)) << "a loss that is not a number must not stop the recording";
    EXPECT_EQ(reader.lanes()->back().unit, "nats");
}

TEST_F(RoundTrip, MatchesStepsLossesAndProvenanceComeBackAsTheyWere)
{
    auto writer = create();
    const CommunicatorId group = *writer.communicator({ {}, "dp0", Dimension::Data, { 0, 2 } });
    ASSERT_TRUE(
        writer.putMatch({ InstanceId{ 1 }, group, CollectiveOp::AllReduce, 0, 1, 2, 10, 10, 20, std::nullopt }));
    ASSERT_TRUE(writer.putMatch({ InstanceId{ 1 }, group, CollectiveOp::AllReduce, 0, 2, 2, 10, 14, 25, 2 }));
    ASSERT_TRUE(writer.putStep({ 1, 7, 0, 100, 200 }));
    ASSERT_TRUE(writer.putStep({ 1, 7, 0, 100, 210 }));
    ASSERT_TRUE(writer.addLoss({ "ring full", 3, "rank 0 dropped events" }));
    ASSERT_TRUE(writer.addLoss({ "ring full", 4, "rank 0 dropped events" }));
    ASSERT_TRUE(writer.setProvenance("seed", "1"));
    ASSERT_TRUE(writer.setProvenance("seed", "42"));

    auto reader = read();
    const auto matches = *reader.matches(kAlways);
    ASSERT_EQ(matches.size(), 1u);
    EXPECT_EQ(matches[0].communicator, group);
    EXPECT_EQ(matches[0].partsPresent, 2);
    EXPECT_EQ(matches[0].lastEntryNs, 14);
    EXPECT_EQ(matches[0].lastExitNs, 25);
    EXPECT_EQ(matches[0].lateRank, 2);
    EXPECT_EQ(reader.communicators()->at(0).members, (std::vector<std::int32_t>{ 0, 2 }));
    ASSERT_EQ(reader.steps()->size(), 1u);
    EXPECT_EQ(reader.steps()->at(0).endNs, 210);
    ASSERT_EQ(reader.losses()->size(), 1u);
    EXPECT_EQ(reader.losses()->at(0).count, 7);
    EXPECT_EQ(reader.provenance()->at("seed"), "42");
}

TEST_F(RoundTrip, CountsTellTheRowsOfEachTable)
{
    auto writer = create();
    const LaneId lane = computeLane(writer);
    const std::vector<Kernel> rows(1500, kernelAt(1, 2)); // more than a block
    ASSERT_TRUE(writer.append(lane, std::span<const Kernel>(rows)));
    const auto counts = *read().counts();
    EXPECT_EQ(counts.at("kernel"), 1500);
    EXPECT_EQ(counts.at("copy"), 0);
    EXPECT_EQ(counts.at("lane"), 1);
    EXPECT_EQ(counts.count("fault_injection"), 0u);
    EXPECT_EQ(*read().rowsOfLanes(), (std::map<LaneId, std::int64_t>{ { lane, 1500 } }));
}

TEST_F(RoundTrip, ResumeGivesTheSameIdsForTheSameContent)
{
    KernelSignature signature{ {}, Pass::Forward, DataType::Float32, 1, std::nullopt, 12 };
    const Communicator group{ {}, "pp0", Dimension::Pipeline, { 0, 1 } };
    NameId name{};
    SignatureId signed_{};
    LaneId lane{};
    CommunicatorId communicator{};
    {
        auto writer = create();
        name = *writer.name("gelu");
        signature.name = name;
        signed_ = *writer.signature(signature);
        lane = computeLane(writer, 5);
        communicator = *writer.communicator(group);
        const std::vector<Kernel> rows{ kernelAt(50, 60) };
        ASSERT_TRUE(writer.append(lane, std::span<const Kernel>(rows)));
        ASSERT_TRUE(
            writer.putMatch({ InstanceId{ 9 }, communicator, CollectiveOp::Send, 0, 1, 2, 1, 1, 2, std::nullopt }));
        ASSERT_TRUE(writer.setRingPosition("1234.0.ring", 99));
        ASSERT_TRUE(writer.finish());
    }
    auto writer = std::move(*TraceWriter::open(path_, TraceWriter::Mode::Resume));
    EXPECT_EQ(*writer.name("gelu"), name);
    EXPECT_EQ(*writer.signature(signature), signed_);
    EXPECT_EQ(computeLane(writer, 5), lane);
    EXPECT_EQ(*writer.communicator(group), communicator);
    EXPECT_NE(*writer.name("softmax"), name);
    EXPECT_NE(computeLane(writer, 6), lane);
    EXPECT_EQ(*writer.ringPosition("1234.0.ring"), 99u);
    EXPECT_EQ(*writer.ringPosition("other"), 0u);
    EXPECT_EQ(*writer.nextInstance(), InstanceId{ 10 });
    ASSERT_EQ(writer.incompleteMatches()->size(), 1u);
    EXPECT_EQ(writer.incompleteMatches()->at(0).id, InstanceId{ 9 });

    const std::vector<Kernel> rows{ kernelAt(10, 20) };
    ASSERT_TRUE(writer.append(lane, std::span<const Kernel>(rows)));
    auto reader = read();
    EXPECT_FALSE(reader.run()->finished) << "recording again";
    EXPECT_EQ(beginsOf(*reader.kernels(lane, kAlways)), (std::vector<std::int64_t>{ 10, 50 }));
    EXPECT_EQ(*reader.window(), (Window{ 10, 60 }));
}

} // namespace rankscope::tracing
