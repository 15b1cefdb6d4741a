#include "tests/system/training_run.h"

#include <gtest/gtest.h>

#include <sstream>

namespace rankscope::system {
namespace {

/// The losses that a training printed, one a step, as they stand in its JSON lines.
std::vector<std::string> lossesIn(const std::string& output)
{
    std::vector<std::string> losses;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        const auto begin = line.find("\"loss\":");
        if (line.find("\"step\":") != std::string::npos && begin != std::string::npos)
            losses.push_back(line.substr(begin, line.find_first_of(",}", begin) - begin));
    }
    return losses;
}

class Again : public testing::Test {
protected:
    void SetUp() override
    {
        if (const auto reason = reasonToSkipTraining(); !reason.empty())
            GTEST_SKIP() << reason;
    }
};

TEST_F(Again, ASecondRunInTheSameDirectoryIsAsGoodAsTheFirst)
{
    TrainingRun run({ "train.steps=5" });
    for (int round = 0; round < 2; ++round) {
        run.start();
        const auto session = run.session();
        const auto outcome = run.finish();
        EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
        EXPECT_FALSE(std::filesystem::exists(session));
        const auto state = readState(run.file());
        EXPECT_EQ(state.error, "");
        EXPECT_TRUE(state.finished);
        EXPECT_EQ(state.steps, (std::map<int, std::int64_t>{ { 0, 5 }, { 1, 5 } }));
        EXPECT_TRUE(run.everyone().empty());
    }
}

TEST_F(Again, WithoutRecordingTheSameLossesCome)
{
    TrainingRun recorded({ "train.steps=5" });
    recorded.start();
    const auto with = lossesIn(recorded.finish().output);
    TrainingRun bare({ "train.steps=5" });
    bare.startUnrecorded();
    const auto without = lossesIn(bare.finish().output);

    EXPECT_EQ(with.size(), 5U);
    EXPECT_EQ(with, without);
    EXPECT_FALSE(std::filesystem::exists(bare.file()));
}

} // namespace
} // namespace rankscope::system
