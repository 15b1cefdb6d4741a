#include "backend/comm/link.h"
#include "backend/comm/message_communicator.h"
#include "backend/comm/thread_transport.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace rankscope::backend {

namespace {

/// Runs `body` once a rank, each rank a thread.
void onRanks(int worldSize, const std::vector<Link>& links, const std::function<void(Communicator&)>& body)
{
    ThreadWorld world(worldSize);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < worldSize; ++rank) {
        threads.emplace_back([&, rank] {
            const auto recorder = tracing::Recorder::open({});
            MessageCommunicator communicator(
                std::make_unique<ShapedTransport>(std::make_unique<ThreadTransport>(world, rank), links), *recorder);
            body(communicator);
        });
    }
    for (std::thread& thread : threads)
        thread.join();
}

Group worldOf(const Communicator& communicator)
{
    return Mesh::create({ .dp = communicator.worldSize() })->worldGroup(communicator.rank());
}

} // namespace

TEST(Communicator, ReceivesPostedEarlyGetTheirMessagesInOrder)
{
    onRanks(2, {}, [](Communicator& communicator) {
        const GroupId world = communicator.addGroup(worldOf(communicator));
        std::vector<float> first{ 1, 2 }, second{ 3, 4, 5 };
        if (communicator.rank() == 0) {
            communicator.send(first, 1, world, { "first" });
            communicator.send(second, 1, world, { "second" });
        } else {
            std::vector<float> a(2), b(3);
            const Request one = communicator.receive(a, 0, world, { "first" });
            const Request two = communicator.receive(b, 0, world, { "second" });
            communicator.wait(two);
            communicator.wait(one);
            EXPECT_EQ(a, first);
            EXPECT_EQ(b, second);
        }
    });
}

TEST(Communicator, CollectivesFinishInTheOrderOfTheirCalls)
{
    onRanks(3, {}, [](Communicator& communicator) {
        const GroupId world = communicator.addGroup(worldOf(communicator));
        std::vector<float> floats(100'000, 1.0f + static_cast<float>(communicator.rank()));
        std::vector<double> doubles{ 0.5 };
        std::vector<std::byte> word(4, static_cast<std::byte>(communicator.rank()));
        communicator.allReduce(std::span(floats), world, "floats");
        communicator.broadcast(word, 1, world, "word");
        communicator.barrier(world);
        communicator.wait(communicator.allReduce(std::span(doubles), world, "doubles"));
        EXPECT_EQ(floats, std::vector<float>(100'000, 6));
        EXPECT_EQ(word, std::vector<std::byte>(4, std::byte{ 1 }));
        EXPECT_EQ(doubles[0], 1.5);
    });
}

TEST(Communicator, GroupsOfOneAxisWorkSideBySide)
{
    const auto mesh = Mesh::create({ .dp = 2, .pp = 2 });
    ASSERT_TRUE(mesh);
    onRanks(4, {}, [&](Communicator& communicator) {
        const int rank = communicator.rank();
        const GroupId data = communicator.addGroup(mesh->dataGroup(rank));
        const GroupId pipeline = communicator.addGroup(mesh->pipelineGroup(rank));
        std::vector<float> overData{ static_cast<float>(rank) }, overPipeline = overData;
        communicator.allReduce(std::span(overData), data, "data");
        communicator.allReduce(std::span(overPipeline), pipeline, "pipeline");
        communicator.drain();
        // Ranks 0, 1 are stage 0; ranks 0, 2 are replica 0.
        EXPECT_EQ(overData[0], rank < 2 ? 1 : 5);
        EXPECT_EQ(overPipeline[0], rank % 2 == 0 ? 2 : 4);
    });
}

TEST(Communicator, EverybodyGetsFromEachWhatIsMeantForHim)
{
    // Rank r sends r + 1 floats of value 10 r + member to each member, but rank 2 sends nothing to itself and to rank
    // 0.
    const auto count
        = [](int from, int to) { return from == 2 && to != 1 ? std::size_t{ 0 } : static_cast<std::size_t>(from + 1); };
    onRanks(3, {}, [&](Communicator& communicator) {
        const GroupId world = communicator.addGroup(worldOf(communicator));
        const int rank = communicator.rank();
        std::vector<std::vector<float>> sent, got;
        std::vector<std::span<const std::byte>> toEach;
        std::vector<std::span<std::byte>> fromEach;
        for (int member = 0; member < 3; ++member) {
            sent.emplace_back(count(rank, member), static_cast<float>(10 * rank + member));
            got.emplace_back(count(member, rank));
        }
        for (std::size_t member = 0; member < 3; ++member) {
            toEach.push_back(std::as_bytes(std::span(sent[member])));
            fromEach.push_back(std::as_writable_bytes(std::span(got[member])));
        }
        communicator.wait(communicator.allToAll(toEach, fromEach, world, "tokens"));
        for (int member = 0; member < 3; ++member)
            EXPECT_EQ(got[static_cast<std::size_t>(member)],
                std::vector<float>(count(member, rank), static_cast<float>(10 * member + rank)));
    });
}

TEST(Communicator, AllRanksKnowTheFirstThatRefuses)
{
    onRanks(3, {}, [](Communicator& communicator) {
        const GroupId world = communicator.addGroup(worldOf(communicator));
        EXPECT_EQ(firstRefusal(communicator, world, true), std::nullopt);
        EXPECT_EQ(firstRefusal(communicator, world, communicator.rank() == 0), 1);
    });
}

TEST(Communicator, AShapedLinkChangesNoResult)
{
    onRanks(2, { { .from = 0, .to = 1, .gbitPerSecond = 5, .delayUs = 50 } }, [](Communicator& communicator) {
        const GroupId world = communicator.addGroup(worldOf(communicator));
        std::vector<float> data(300'000, 2);
        std::vector<float> message{ 7 };
        if (communicator.rank() == 0)
            communicator.send(message, 1, world, { "message" });
        communicator.wait(communicator.allReduce(std::span(data), world, "data"));
        EXPECT_EQ(data, std::vector<float>(300'000, 4));
        std::vector<float> got(1);
        if (communicator.rank() == 1) {
            communicator.wait(communicator.receive(got, 0, world, { "message" }));
            EXPECT_EQ(got, message);
        }
    });
}

} // namespace rankscope::backend
