#include "tests/backend/train/thread_ranks.h"

#include "backend/comm/link.h"
#include "backend/comm/message_communicator.h"
#include "backend/comm/thread_transport.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <thread>

namespace rankscope::backend::test {

namespace {

std::string tinyText()
{
    std::string text;
    for (int line = 0; line < 400; ++line)
        text += "line " + std::to_string(line * line % 97) + " of a text that is easy to learn\n";
    return text;
}

} // namespace

Config tinyConfig()
{
    Config config;
    config.model = { .layers = 4, .width = 32, .heads = 2, .vocab = 256, .sequence = 16 };
    config.parallel.bucketKb = 16;
    config.batch.microBatch = 1;
    config.optimizer.lr = 3e-3;
    config.optimizer.warmup = 5;
    config.train.steps = 20;
    config.train.validateEvery = 10;
    splitBatch(config);
    return config;
}

Config tinyConfig(int dp, int pp)
{
    Config config = tinyConfig();
    config.parallel.dp = dp;
    config.parallel.pp = pp;
    splitBatch(config);
    return config;
}

void splitBatch(Config& config)
{
    config.batch.microBatches = 8 / config.batch.microBatch / config.parallel.dp;
    config.train.validateBatches = config.batch.microBatches;
}

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

std::vector<Outcome> train(const Config& config, std::int64_t stopAfter)
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
            .shouldStop
            = [&] { return stopAfter > 0 && static_cast<std::int64_t>(outcome.losses.size()) + 1 >= stopAfter; } });
    });
    return outcomes;
}

void expectClose(const std::vector<double>& values, const std::vector<double>& truth, double bound)
{
    ASSERT_EQ(values.size(), truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i)
        EXPECT_NEAR(values[i], truth[i], bound * truth[i]) << "at " << i;
}

} // namespace rankscope::backend::test
