#include "backend/comm/link.h"
#include "backend/comm/message_communicator.h"
#include "backend/comm/thread_transport.h"
#include "backend/train/trainer.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <functional>
#include <thread>

namespace rankscope::backend {

namespace {

constexpr int kSteps = 20;

/// A tiny model on a global batch of 8 sequences, however many replicas share it.
Config tinyConfig(int dp, int pp)
{
    Config config;
    config.model = { .layers = 4, .width = 32, .heads = 2, .vocab = 256, .sequence = 16 };
    config.parallel.dp = dp;
    config.parallel.pp = pp;
    config.parallel.bucketKb = 16;
    config.batch.microBatch = 1;
    config.batch.microBatches = 8 / dp;
    config.optimizer.lr = 3e-3;
    config.optimizer.warmup = 5;
    config.train.steps = kSteps;
    config.train.validateEvery = 10;
    config.train.validateBatches = 8 / dp;
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
    std::vector<double> losses, norms, heldOut;
};

/// Runs `body` on each rank's trainer, each rank a thread with one compute thread.
void onRanks(const Config& config, const std::function<void(int rank, Trainer& trainer)>& body)
{
    const auto dataset = Dataset::create(tinyText(), 0.1, config.model.sequence, 1);
    const Mesh mesh = *Mesh::create(config.meshSizes());
    ThreadWorld world(config.meshSizes().worldSize());
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world.worldSize(); ++rank) {
        threads.emplace_back([&, rank] {
            omp_set_num_threads(1);
            const auto recorder = tracing::Recorder::open({});
            MessageCommunicator communicator(
                std::make_unique<ShapedTransport>(std::make_unique<ThreadTransport>(world, rank), config.links),
                *recorder);
            Trainer trainer(config, mesh, communicator, addGroups(mesh, communicator), *dataset, *recorder, 1e9);
            body(rank, trainer);
        });
    }
    for (std::thread& thread : threads)
        thread.join();
}

/// What each rank reports.
std::vector<Outcome> train(const Config& config)
{
    std::vector<Outcome> outcomes(static_cast<std::size_t>(config.meshSizes().worldSize()));
    onRanks(config, [&](int rank, Trainer& trainer) {
        Outcome& outcome = outcomes[static_cast<std::size_t>(rank)];
        trainer.run({ .step =
                          [&](const StepReport& report) {
                              outcome.losses.push_back(report.loss);
                              outcome.norms.push_back(report.gradientNorm);
                          },
            .validation = [&](const ValidationReport& report) { outcome.heldOut.push_back(report.loss); },
            .shouldStop = {} });
    });
    return outcomes;
}

void expectClose(const std::vector<double>& values, const std::vector<double>& truth)
{
    ASSERT_EQ(values.size(), truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i)
        EXPECT_NEAR(values[i], truth[i], 1e-5 * truth[i]) << "at " << i;
}

class Layouts : public testing::TestWithParam<std::pair<int, int>> { };

} // namespace

TEST_P(Layouts, GiveTheLossesOfOneRank)
{
    const auto [dp, pp] = GetParam();
    const Outcome truth = train(tinyConfig(1, 1)).front();
    ASSERT_EQ(truth.losses.size(), static_cast<std::size_t>(kSteps));
    EXPECT_LT(truth.losses.back(), 0.8 * truth.losses.front()) << "the truth itself learns nothing";
    EXPECT_EQ(truth.heldOut.size(), 3u);
    for (const Outcome& outcome : train(tinyConfig(dp, pp))) {
        expectClose(outcome.losses, truth.losses);
        expectClose(outcome.heldOut, truth.heldOut);
    }
}

INSTANTIATE_TEST_SUITE_P(Training, Layouts,
    testing::Values(std::pair(2, 1), std::pair(1, 2), std::pair(2, 2), std::pair(1, 4)), [](const auto& split) {
        return "dp" + std::to_string(split.param.first) + "pp" + std::to_string(split.param.second);
    });

TEST(Training, RepeatsBitForBit)
{
    const Config config = tinyConfig(2, 2);
    const Outcome first = train(config).front();
    const Outcome second = train(config).front();
    EXPECT_EQ(first.losses, second.losses);
    EXPECT_EQ(first.norms, second.norms);
    EXPECT_EQ(first.heldOut, second.heldOut);
}

TEST(Training, AShapedLinkChangesNoBit)
{
    Config config = tinyConfig(2, 1);
    config.train.steps = 5;
    const Outcome fast = train(config).front();
    config.links = { { .from = 0, .to = 1, .gbitPerSecond = 2, .delayUs = 100 } };
    EXPECT_EQ(train(config).front().losses, fast.losses);
}

TEST(Training, OneRanksStopEndsAllAfterTheSameStep)
{
    std::vector<int> steps(2);
    const Config config = tinyConfig(2, 1);
    onRanks(config, [&](int rank, Trainer& trainer) {
        int& done = steps[static_cast<std::size_t>(rank)];
        const RunEnd end = trainer.run({ .step = [&](const StepReport&) { ++done; },
            .validation = {},
            .shouldStop = [&] { return rank == 1 && done == 2; } });
        EXPECT_EQ(end, RunEnd::Stopped);
    });
    EXPECT_EQ(steps, (std::vector{ 3, 3 }));
}

TEST(Training, EndsAfterTheStepInWhichItsTimeIsUp)
{
    Config config = tinyConfig(1, 2);
    config.train.maxSeconds = 1e-9;
    onRanks(config, [&](int, Trainer& trainer) {
        std::vector<std::int64_t> validated;
        const RunEnd end = trainer.run({ .step = {},
            .validation = [&](const ValidationReport& report) { validated.push_back(report.step); },
            .shouldStop = {} });
        EXPECT_EQ(end, RunEnd::TimeIsUp);
        EXPECT_EQ(validated, (std::vector<std::int64_t>{ 0, 1 }));
    });
}

} // namespace rankscope::backend
