#include "tests/system/training_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <thread>

namespace rankscope::system {
namespace {

using namespace std::chrono_literals;

std::int64_t utcNow()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// A training that is killed somewhere at a moment that nobody chose.
class Kill : public testing::TestWithParam<int> {
protected:
    void SetUp() override
    {
        if (const auto reason = reasonToSkipTraining(); !reason.empty())
            GTEST_SKIP() << reason;
        random_.seed(seedOfThisTest());
    }

    /// Starts the run, lets it come to its third step and then go on for up to a second.
    void startAndWait(TrainingRun& run)
    {
        run.start();
        ASSERT_TRUE(run.waitForStep(3)) << run.launcher().error();
        std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution<>(0, 1'000'000)(random_)));
    }

    std::mt19937_64 random_;
};

/// Nothing of a rank that was written 100 ms before it stopped is missing.
void expectRecordedUntil(const FileState& state, std::int64_t momentUtcNs)
{
    ASSERT_EQ(state.lastEndUtcNs.size(), 2U);
    for (const auto& [rank, end] : state.lastEndUtcNs)
        EXPECT_GE(end, momentUtcNs - 100'000'000) << "rank " << rank;
}

/// Each step once: nothing doubled by a restart, nothing lost.
void expectEachStepOnce(const FileState& state, std::int64_t steps)
{
    for (int rank = 0; rank < 2; ++rank) {
        EXPECT_EQ(state.steps.at(rank), steps) << "rank " << rank;
        EXPECT_EQ(state.stepRanges.at(rank), steps) << "rank " << rank;
    }
}

TEST_P(Kill, OfARankLeavesAFileThatReadsToTheEnd)
{
    TrainingRun run;
    startAndWait(run);
    const auto ranks = run.ranks();
    ASSERT_EQ(ranks.size(), 2U);
    const auto session = run.session();
    ASSERT_TRUE(std::filesystem::exists(session));
    const auto moment = utcNow();
    kill(ranks.at(std::uniform_int_distribution<>(0, 1)(random_)), SIGKILL);

    const auto outcome = run.finish();
    EXPECT_FALSE(outcome.timedOut);
    EXPECT_NE(outcome.exitCode, 0);
    const auto state = readState(run.file());
    EXPECT_EQ(state.error, "");
    EXPECT_EQ(state.integrity, "ok");
    EXPECT_TRUE(state.finished);
    expectRecordedUntil(state, moment);
    EXPECT_TRUE(run.everyone().empty());
    EXPECT_FALSE(std::filesystem::exists(session)) << "rings or Open MPI's shared memory stay in memory";
}

TEST_P(Kill, OfTheCollectorIsHealedByTheLauncher)
{
    TrainingRun run({ "train.max_seconds=4" });
    startAndWait(run);
    const auto collector = run.collector();
    ASSERT_TRUE(collector);
    kill(*collector, SIGKILL);

    const auto outcome = run.finish();
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    const auto state = readState(run.file());
    EXPECT_EQ(state.error, "");
    EXPECT_EQ(state.integrity, "ok");
    EXPECT_TRUE(state.finished);
    ASSERT_EQ(state.steps.size(), 2U);
    EXPECT_EQ(state.steps.at(0), state.steps.at(1));
    expectEachStepOnce(state, state.steps.at(0));
}

TEST_P(Kill, OfTheLauncherEndsTheRanksAndLeavesAWholeFile)
{
    TrainingRun run;
    startAndWait(run);
    const auto session = run.session();
    ASSERT_TRUE(std::filesystem::exists(session));
    const auto moment = utcNow();
    run.launcher().signal(SIGKILL);
    run.finish();

    // Nobody is left to stop them, so the ranks go with their launcher; the collector stays until it has all they
    // wrote.
    EXPECT_TRUE(support::waitUntil([&] { return run.everyone().empty(); }, 60s));
    const auto state = readState(run.file());
    EXPECT_EQ(state.error, "");
    EXPECT_EQ(state.integrity, "ok");
    EXPECT_TRUE(state.finished);
    expectRecordedUntil(state, moment);
    EXPECT_FALSE(std::filesystem::exists(session)) << "rings or Open MPI's shared memory stay in memory";
}

TEST_P(Kill, OfMpirunEndsTheRanksAndLeavesAWholeFile)
{
    TrainingRun run;
    startAndWait(run);
    const auto session = run.session();
    ASSERT_TRUE(std::filesystem::exists(session));
    const auto mpirun = run.mpirun();
    ASSERT_TRUE(mpirun);
    const auto moment = utcNow();
    kill(*mpirun, SIGKILL);

    const auto outcome = run.finish();
    EXPECT_FALSE(outcome.timedOut);
    EXPECT_EQ(outcome.exitCode, 4) << outcome.error;
    EXPECT_TRUE(run.everyone().empty()) << "ranks or a collector live on";
    const auto state = readState(run.file());
    EXPECT_EQ(state.error, "");
    EXPECT_EQ(state.integrity, "ok");
    EXPECT_TRUE(state.finished);
    expectRecordedUntil(state, moment);
    EXPECT_EQ(state.losses.contains("rank died") ? state.losses.at("rank died") : 0, 2);
    EXPECT_FALSE(std::filesystem::exists(session)) << "rings or Open MPI's shared memory stay in memory";
}

INSTANTIATE_TEST_SUITE_P(AtARandomMoment, Kill, testing::Range(0, 2));

} // namespace
} // namespace rankscope::system
