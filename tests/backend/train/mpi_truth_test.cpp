#include "tests/backend/train/mpi_job.h"

#include "tracing/record/command_file.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rankscope::backend {

namespace {

std::vector<double> lossesOf(int dp, int pp, int tp = 1)
{
    const MpiJob job(dp * pp * tp,
        { "parallel.dp=" + std::to_string(dp), "parallel.pp=" + std::to_string(pp), "parallel.tp=" + std::to_string(tp),
            "batch.micro_batches=" + std::to_string(8 / dp), "train.validate_batches=" + std::to_string(8 / dp),
            "parallel.bucket_kb=16" });
    const support::Outcome outcome = job.run();
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    std::vector<double> losses = stepValues(outcome.output, "loss");
    EXPECT_EQ(losses.size(), 20u);
    const std::vector<double> heldOut = heldOutLosses(outcome.output);
    EXPECT_EQ(heldOut.size(), 3u);
    losses.insert(losses.end(), heldOut.begin(), heldOut.end());
    return losses;
}

void expectClose(const std::vector<double>& values, const std::vector<double>& truth)
{
    ASSERT_EQ(values.size(), truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i)
        EXPECT_NEAR(values[i], truth[i], 1e-5 * truth[i]) << "at " << i;
}

} // namespace

TEST(MpiTraining, EveryLayoutGivesTheLossesOfOneRank)
{
    const std::vector<double> truth = lossesOf(1, 1);
    expectClose(lossesOf(2, 1), truth);
    expectClose(lossesOf(1, 2), truth);
    expectClose(lossesOf(2, 2), truth);
    expectClose(lossesOf(1, 1, 2), truth);
}

TEST(MpiTraining, RepeatsBitForBit) { EXPECT_EQ(lossesOf(2, 2), lossesOf(2, 2)); }

TEST(MpiTraining, RefusesALayoutThatDoesNotFitTheRanksInOneLine)
{
    const support::Outcome outcome = MpiJob(2, { "parallel.pp=4" }).run();
    EXPECT_NE(outcome.exitCode, 0);
    EXPECT_TRUE(outcome.output.empty()) << outcome.output;
    const std::string line = "rankscope-train: parallel.dp, tp, pp = 1, 1, 4: need 4 ranks, but 2 run; "
                             "start mpirun -n 4, or change them\n";
    const std::size_t at = outcome.error.find(line);
    ASSERT_NE(at, std::string::npos) << outcome.error;
    EXPECT_EQ(outcome.error.find("rankscope-train:", at + 1), std::string::npos) << "said more than once";
}

TEST(MpiTraining, RefusesTextThatIsNoneInOneLine)
{
    const support::TemporaryDirectory folder;
    const std::string path = folder.write("latin.txt", "caf\xe9 au lait").string();
    const support::Outcome outcome = MpiJob(2, { "parallel.pp=2", "data.path=" + path }).run();
    EXPECT_NE(outcome.exitCode, 0);
    EXPECT_NE(outcome.error.find("rankscope-train: data.path: " + path + ": not UTF-8 text"), std::string::npos);
}

TEST(MpiTraining, ACommandFromOutsideEndsItAfterAStep)
{
    MpiJob job(2, { "parallel.dp=2", "batch.micro_batches=1", "train.steps=1000000", "train.validate_every=0" });
    job.recordInto(job.session());
    support::ChildProcess child(job.command());
    ASSERT_TRUE(
        support::waitUntil([&] { return child.output().find("\"step\":2") != std::string::npos || !child.isRunning(); },
            std::chrono::seconds(60)));
    ASSERT_TRUE(tracing::appendCommand(job.session(), "stop"));
    const support::Outcome outcome = child.wait(std::chrono::seconds(60));
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_TRUE(outcome.output.ends_with("{\"schema\":1,\"event\":\"end\",\"reason\":\"stopped\"}\n"));
}

} // namespace rankscope::backend
