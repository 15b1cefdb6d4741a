#include "backend/comm/link.h"
#include "backend/comm/message_communicator.h"
#include "backend/comm/thread_transport.h"
#include "backend/train/trainer.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <thread>

namespace rankscope::backend {

namespace {

constexpr int kSteps = 9;

Config tinyConfig(const MeshSizes& sizes, const std::string& dir)
{
    Config config;
    config.model = { .layers = 4, .width = 16, .heads = 2, .vocab = 256, .sequence = 16 };
    config.parallel.dp = sizes.dp;
    config.parallel.tp = sizes.tp;
    config.parallel.pp = sizes.pp;
    config.batch.microBatch = 1;
    config.batch.microBatches = 8 / sizes.dp;
    config.optimizer.lr = 3e-3;
    config.optimizer.warmup = 2;
    config.train.steps = kSteps;
    config.train.validateEvery = 0;
    config.checkpoint.dir = dir;
    config.checkpoint.every = 3;
    return config;
}

std::string tinyText()
{
    std::string text;
    for (int line = 0; line < 400; ++line)
        text += "line " + std::to_string(line * line % 97) + " of a text that is easy to learn\n";
    return text;
}

struct Outcome {
    std::int64_t restored = 0;
    std::vector<double> losses, norms; ///< from the step after the restored one on
    std::vector<CheckpointEvent> events;
};

/// One attempt of a run, up to a stop after `stopAfter` steps; the first attempt restores nothing.
Outcome train(const Config& config, int attempt, int stopAfter = kSteps)
{
    const auto dataset = Dataset::create(tinyText(), 0.1, config.model.sequence, 1);
    const Mesh mesh = *Mesh::create(config.meshSizes());
    ThreadWorld world(config.meshSizes().worldSize());
    std::vector<Outcome> outcomes(static_cast<std::size_t>(world.worldSize()));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world.worldSize(); ++rank) {
        threads.emplace_back([&, rank] {
            omp_set_num_threads(1);
            Outcome& outcome = outcomes[static_cast<std::size_t>(rank)];
            const auto recorder = tracing::Recorder::open({});
            MessageCommunicator communicator(std::make_unique<ThreadTransport>(world, rank), *recorder);
            Trainer trainer(config, mesh, communicator, addGroups(mesh, communicator), *dataset, *recorder, 1e9);
            trainer.keepCheckpoints(
                "run", attempt, [&](const CheckpointEvent& event) { outcome.events.push_back(event); });
            if (attempt > 0)
                outcome.restored = *trainer.restore();
            std::int64_t done = outcome.restored;
            trainer.run({ .step =
                              [&](const StepReport& report) {
                                  done = report.step;
                                  outcome.losses.push_back(report.loss);
                                  outcome.norms.push_back(report.gradientNorm);
                              },
                .validation = {},
                .shouldStop = [&] { return done + 1 >= stopAfter; } });
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    return outcomes.front();
}

std::vector<double> fromStep(const std::vector<double>& values, std::int64_t step)
{
    return { values.begin() + step, values.end() };
}

} // namespace

std::string nameOf(const MeshSizes& sizes)
{
    return "dp" + std::to_string(sizes.dp) + "tp" + std::to_string(sizes.tp) + "pp" + std::to_string(sizes.pp);
}

class Resume : public testing::TestWithParam<std::pair<MeshSizes, bool>> { };

TEST_P(Resume, EqualsTheUndisturbedRunBitForBit)
{
    const auto [sizes, async] = GetParam();
    const support::TemporaryDirectory truthDir, dir;
    const Outcome truth = train(tinyConfig(sizes, truthDir.path().string()), 0);
    Config config = tinyConfig(sizes, dir.path().string());
    config.checkpoint.async = async;
    train(config, 0, 6); // saves after 3 and 6
    const Outcome resumed = train(config, 1);
    EXPECT_EQ(resumed.restored, 6);
    EXPECT_EQ(resumed.losses, fromStep(truth.losses, 6));
    EXPECT_EQ(resumed.norms, fromStep(truth.norms, 6));
}

INSTANTIATE_TEST_SUITE_P(Training, Resume,
    testing::Values(std::pair(MeshSizes{ .dp = 2, .tp = 2 }, false), std::pair(MeshSizes{ .dp = 2, .pp = 2 }, true)),
    [](const auto& of) { return nameOf(of.param.first) + (of.param.second ? "async" : ""); });

class Reshard : public testing::TestWithParam<std::pair<MeshSizes, MeshSizes>> { };

TEST_P(Reshard, ACheckpointOfOneLayoutGoesOnInAnother)
{
    const auto& [from, to] = GetParam();
    const support::TemporaryDirectory truthDir, dir;
    const Outcome truth = train(tinyConfig({}, truthDir.path().string()), 0);
    train(tinyConfig(from, dir.path().string()), 0, 6);
    const Outcome resumed = train(tinyConfig(to, dir.path().string()), 1);
    EXPECT_EQ(resumed.restored, 6);
    ASSERT_EQ(resumed.losses.size(), static_cast<std::size_t>(kSteps - 6));
    for (std::size_t i = 0; i < resumed.losses.size(); ++i)
        EXPECT_NEAR(resumed.losses[i], truth.losses[6 + i], 1e-4 * truth.losses[6 + i]) << "at " << i;
}

INSTANTIATE_TEST_SUITE_P(Training, Reshard,
    testing::Values(std::pair(MeshSizes{ .dp = 2, .pp = 2 }, MeshSizes{ .tp = 2, .pp = 2 }),
        std::pair(MeshSizes{ .dp = 2, .tp = 2 }, MeshSizes{ .pp = 4 })),
    [](const auto& of) { return nameOf(of.param.first) + "to" + nameOf(of.param.second); });

TEST(Training, ACheckpointOfInterleavedStagesGoesOnWithZeroBubbles)
{
    const support::TemporaryDirectory truthDir, dir;
    const Outcome truth = train(tinyConfig({}, truthDir.path().string()), 0);
    Config config = tinyConfig({ .tp = 2, .pp = 2 }, dir.path().string());
    config.parallel.schedule = "interleaved";
    train(config, 0, 6);
    config.parallel.schedule = "zb-h1";
    const Outcome resumed = train(config, 1);
    EXPECT_EQ(resumed.restored, 6);
    ASSERT_EQ(resumed.losses.size(), static_cast<std::size_t>(kSteps - 6));
    for (std::size_t i = 0; i < resumed.losses.size(); ++i)
        EXPECT_NEAR(resumed.losses[i], truth.losses[6 + i], 1e-4 * truth.losses[6 + i]) << "at " << i;
}

TEST(Training, ExpertsGoOnWhereverTheyLie)
{
    // Each pair of replicas has all four of them; then two tensor parts, with shards; then one rank.
    const support::TemporaryDirectory truthDir, dir;
    const auto withExperts = [](const MeshSizes& sizes, int zero, const support::TemporaryDirectory& folder) {
        Config config = tinyConfig(sizes, folder.path().string());
        config.parallel.ep = sizes.ep;
        config.parallel.zero = zero;
        config.model.experts = 4;
        config.model.topK = 2;
        config.model.capacityFactor = 0;
        return config;
    };
    const Outcome truth = train(withExperts({}, 0, truthDir), 0);
    train(withExperts({ .dp = 4, .ep = 2 }, 0, dir), 0, 3);
    EXPECT_EQ(train(withExperts({ .dp = 2, .tp = 2, .ep = 2 }, 1, dir), 1, 6).restored, 3);
    const Outcome resumed = train(withExperts({}, 0, dir), 2);
    EXPECT_EQ(resumed.restored, 6);
    ASSERT_EQ(resumed.losses.size(), static_cast<std::size_t>(kSteps - 6));
    for (std::size_t i = 0; i < resumed.losses.size(); ++i)
        EXPECT_NEAR(resumed.losses[i], truth.losses[6 + i], 1e-4 * truth.losses[6 + i]) << "at " << i;
}

TEST(Training, ShardedMomentsGoOnBitForBit)
{
    const support::TemporaryDirectory truthDir, dir;
    Config config = tinyConfig({ .dp = 2, .tp = 2 }, truthDir.path().string());
    config.parallel.zero = 1;
    const Outcome truth = train(config, 0);
    config.checkpoint.dir = dir.path().string();
    train(config, 0, 6);
    EXPECT_EQ(train(config, 1).losses, fromStep(truth.losses, 6));
}

TEST(Training, ShardedMomentsGoOnInOtherShards)
{
    const support::TemporaryDirectory truthDir, dir;
    const Outcome truth = train(tinyConfig({}, truthDir.path().string()), 0);
    struct Attempt {
        MeshSizes sizes;
        int zero, until;
    };
    int attempt = 0;
    for (const auto& [sizes, zero, until] : { Attempt{ { .dp = 2, .tp = 2 }, 1, 3 },
             Attempt{ { .dp = 4, .pp = 2 }, 1, 6 }, Attempt{ { .tp = 2 }, 0, 9 } }) {
        Config config = tinyConfig(sizes, dir.path().string());
        config.parallel.zero = zero;
        const Outcome outcome = train(config, attempt++, until);
        ASSERT_EQ(outcome.restored, until - 3);
        for (std::size_t i = 0; i < outcome.losses.size(); ++i) {
            const double expected = truth.losses[static_cast<std::size_t>(until - 3) + i];
            EXPECT_NEAR(outcome.losses[i], expected, 1e-4 * expected) << "until " << until << " at " << i;
        }
    }
}

TEST(Checkpointing, ATimeLimitLeavesACheckpointOfTheLastStep)
{
    const support::TemporaryDirectory dir;
    Config config = tinyConfig({ .dp = 2 }, dir.path().string());
    config.train.maxSeconds = 1e-9;
    const Outcome outcome = train(config, 0);
    ASSERT_EQ(outcome.events.size(), 1u);
    EXPECT_EQ(outcome.events[0].step, 1);
}

} // namespace rankscope::backend
