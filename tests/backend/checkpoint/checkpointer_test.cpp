#include "backend/checkpoint/checkpointer.h"

#include "backend/comm/message_communicator.h"
#include "backend/comm/thread_transport.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>

namespace rankscope::backend {

namespace {

using Kind = CheckpointEvent::Kind;

/// Ranks as threads, each with a state of eight floats of which it writes its half.
class Checkpoints : public testing::Test {
protected:
    static constexpr int kRanks = 2;

    struct Rank {
        std::vector<float> values = std::vector<float>(8);
        std::int64_t restored = -1;
        std::vector<CheckpointEvent> events;
    };

    Checkpointer::Settings settings(int attempt = 0) const
    {
        return { .dir = folder_.path().string(),
            .run = "run",
            .attempt = attempt,
            .keep = 2,
            .identity = "a model",
            .layout = "dp 2" };
    }

    std::vector<Rank> onRanks(const Checkpointer::Settings& settings,
        const std::function<void(Checkpointer& checkpointer, Rank& rank, int number)>& body, ShardHooks hooks = {})
    {
        std::vector<Rank> ranks(kRanks);
        ThreadWorld world(kRanks);
        std::vector<std::thread> threads;
        for (int number = 0; number < kRanks; ++number) {
            threads.emplace_back([&, number] {
                const auto recorder = tracing::Recorder::open({});
                MessageCommunicator communicator(std::make_unique<ThreadTransport>(world, number), *recorder);
                const GroupId group = communicator.addGroup(Mesh::create({ .dp = kRanks })->worldGroup(number));
                Rank& rank = ranks[static_cast<std::size_t>(number)];
                const std::vector<StateSlice> held{ { "w", 0, rank.values } };
                Checkpointer checkpointer(settings, { held, shareOf(held, static_cast<std::size_t>(number), kRanks) },
                    communicator, group, *recorder);
                checkpointer.setListener([&](const CheckpointEvent& event) { rank.events.push_back(event); });
                if (number == 1)
                    checkpointer.setHooks(hooks);
                body(checkpointer, rank, number);
            });
        }
        for (std::thread& thread : threads)
            thread.join();
        return ranks;
    }

    std::vector<Rank> save(std::int64_t step, ShardHooks hooks = {}, int attempt = 0)
    {
        return onRanks(
            settings(attempt),
            [step](Checkpointer& checkpointer, Rank& rank, int) {
                rank.values.assign(8, static_cast<float>(step));
                checkpointer.save(step);
            },
            std::move(hooks));
    }

    std::vector<Rank> restore(int attempt = 1)
    {
        return onRanks(settings(attempt), [](Checkpointer& checkpointer, Rank& rank, int) {
            const auto step = checkpointer.restore();
            rank.restored = step ? *step : -2;
        });
    }

    void expectRestored(const std::vector<Rank>& ranks, std::int64_t step)
    {
        for (const Rank& rank : ranks) {
            EXPECT_EQ(rank.restored, step);
            EXPECT_EQ(rank.values, std::vector<float>(8, static_cast<float>(step)));
        }
    }

    std::string shard(std::int64_t step, int rank) const
    {
        const CheckpointFolder folder(folder_.path().string(), "run");
        return folder.pathOf(folder.shardFile(step, 0, rank));
    }

    support::TemporaryDirectory folder_;
};

} // namespace

TEST_F(Checkpoints, TheNewestComesBackOnAllRanks)
{
    save(10);
    const auto saved = save(20);
    ASSERT_EQ(saved[0].events.size(), 1u);
    EXPECT_EQ(saved[0].events[0].kind, Kind::Published);
    EXPECT_EQ(
        saved[0].events[0].bytes, std::filesystem::file_size(shard(20, 0)) + std::filesystem::file_size(shard(20, 1)));
    expectRestored(restore(), 20);
}

TEST_F(Checkpoints, WithoutOneTheRunStartsFromTheBeginning)
{
    const auto ranks = restore();
    EXPECT_EQ(ranks[0].restored, 0);
    ASSERT_EQ(ranks[0].events.size(), 1u);
    EXPECT_EQ(ranks[0].events[0].message, "no complete checkpoint in " + folder_.path().string());
}

TEST_F(Checkpoints, ATruncatedShardIsNamedAndTheOneBeforeTaken)
{
    save(10);
    save(20);
    const auto whole = std::filesystem::file_size(shard(20, 1));
    std::filesystem::resize_file(shard(20, 1), whole - 3);
    const auto ranks = restore();
    expectRestored(ranks, 10);
    ASSERT_EQ(ranks[1].events.size(), 1u);
    EXPECT_EQ(ranks[1].events[0].kind, Kind::Skipped);
    EXPECT_EQ(ranks[1].events[0].message,
        shard(20, 1) + ": " + std::to_string(whole - 3) + " of " + std::to_string(whole) + " bytes are there");
    expectRestored(restore(2), 10); // put aside: not tried again
}

TEST_F(Checkpoints, AFlippedBitIsNamedAndTheOneBeforeTaken)
{
    save(10);
    save(20);
    {
        std::fstream file(shard(20, 0), std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(-2, std::ios::end);
        const auto byte = static_cast<char>(file.get() ^ 0x10);
        file.seekp(-2, std::ios::end);
        file.put(byte);
    }
    const auto ranks = restore();
    expectRestored(ranks, 10);
    ASSERT_GE(ranks[0].events.size(), 1u);
    EXPECT_NE(ranks[0].events[0].message.find(shard(20, 0) + ": checksum "), std::string::npos);
}

TEST_F(Checkpoints, AMissingShardIsDamageToo)
{
    save(10);
    save(20);
    std::filesystem::remove(shard(20, 1));
    expectRestored(restore(), 10);
}

TEST_F(Checkpoints, AFullDiskLeavesTheLastOneTheNewest)
{
    save(10);
    ShardHooks full;
    full.place = [](const std::string&) { return std::string("/dev/full"); };
    const auto ranks = save(20, full);
    ASSERT_EQ(ranks[1].events.size(), 1u);
    EXPECT_EQ(ranks[1].events[0].kind, Kind::Failed);
    EXPECT_TRUE(ranks[0].events.empty());
    expectRestored(restore(), 10);
}

TEST_F(Checkpoints, AnotherModelsStateIsRefusedByName)
{
    save(10);
    Checkpointer::Settings other = settings(1);
    other.identity = "a wider model";
    const auto ranks = onRanks(other, [](Checkpointer& checkpointer, Rank& rank, int) {
        rank.restored = checkpointer.restore().has_value() ? 0 : -2;
    });
    ASSERT_EQ(ranks[0].events.size(), 2u);
    EXPECT_EQ(ranks[0].events[0].message, "of another model: a model, not a wider model");
    expectRestored(restore(), 10); // it is not damaged
}

TEST_F(Checkpoints, WrittenBehindTheStepsHoldsTheStateOfItsStep)
{
    Checkpointer::Settings async = settings();
    async.async = true;
    onRanks(async, [](Checkpointer& checkpointer, Rank& rank, int) {
        rank.values.assign(8, 20);
        checkpointer.save(20);
        rank.values.assign(8, 21); // the next step goes on at once
        checkpointer.finish();
    });
    expectRestored(restore(), 20);
}

TEST_F(Checkpoints, WrittenBehindTheStepsIsPublishedByTheVoteOfAll)
{
    Checkpointer::Settings async = settings();
    async.async = true;
    const auto ranks = onRanks(async, [](Checkpointer& checkpointer, Rank& rank, int) {
        checkpointer.publishIfDone(1); // nothing is under way, and not all have voted
        checkpointer.save(20);
        while (checkpointer.doneVote() == 0)
            std::this_thread::yield();
        checkpointer.publishIfDone(kRanks);
        rank.restored = static_cast<std::int64_t>(checkpointer.doneVote());
    });
    ASSERT_EQ(ranks[0].events.size(), 1u);
    EXPECT_EQ(ranks[0].events[0].kind, Kind::Published);
    EXPECT_EQ(ranks[0].restored, 0);
}

TEST_F(Checkpoints, ARankThatIsKilledWhileWritingLeavesTheOneBefore)
{
    save(10);
    const pid_t child = fork();
    if (child == 0) {
        ShardHooks killed;
        killed.halfWay = [] { raise(SIGKILL); };
        save(20, killed);
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_TRUE(std::filesystem::exists(shard(20, 1))) << "it was not killed while writing";
    expectRestored(restore(), 10);
}

} // namespace rankscope::backend
