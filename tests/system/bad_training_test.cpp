#include "tests/system/expect_refusal.h"
#include "tests/system/training_run.h"

#include <gtest/gtest.h>

namespace rankscope::system {
namespace {

using support::Outcome;
using support::run;

class BadTraining : public testing::Test {
protected:
    void SetUp() override
    {
        if (const auto reason = reasonToSkipTraining(); !reason.empty())
            GTEST_SKIP() << reason;
    }

    static Outcome train(const std::string& setting)
    {
        TrainingRun run({ "train.steps=2", setting });
        run.start();
        auto outcome = run.finish();
        EXPECT_FALSE(std::filesystem::exists(run.file()) && !readState(run.file()).steps.empty());
        return outcome;
    }

    support::TemporaryDirectory directory_;
};

TEST_F(BadTraining, DataPathThatDoesNotExistIsRefused)
{
    expectRefusal(train("data.path=/nonexistent/text"), 2, { "data.path", "/nonexistent/text" });
}

TEST_F(BadTraining, EmptyTextIsRefused)
{
    const auto file = directory_.write("empty.txt", "").string();
    expectRefusal(train("data.path=" + file), 2, { "data.path", file });
}

TEST_F(BadTraining, LayersThatStagesDoNotDivideAreRefused)
{
    expectRefusal(train("parallel.pp=3"), 2, { "parallel.pp", "model.layers" });
}

TEST_F(BadTraining, UnknownKeyIsRefused) { expectRefusal(train("model.depth=3"), 2, { "model.depth" }); }

TEST_F(BadTraining, MoreRanksThanCoresTrain)
{
    // Four ranks run everywhere: where there are fewer cores, the launcher lets them share.
    TrainingRun run({ "train.steps=2", "parallel.dp=2" });
    run.start();
    const auto outcome = run.finish();
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_EQ(readState(run.file()).steps.size(), 4U);
}

TEST_F(BadTraining, MissingMpirunIsNamedWithItsPackage)
{
    const TrainingRun training;
    const auto outcome = run({ { program("rankscope"), "train", "--config", training.configuration().string(), "--out",
                                   training.file().string() },
        { { "PATH", directory_.path().string() } } });
    expectRefusal(outcome, 2, { "mpirun", "openmpi-bin" });
}

} // namespace
} // namespace rankscope::system
