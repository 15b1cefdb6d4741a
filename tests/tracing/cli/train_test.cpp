#include "tests/support/environment_variable.h"
#include "tests/support/temporary_directory.h"
#include "tests/tracing/cli/rankscope_program.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace rankscope::tracing {

namespace {

class Train : public testing::Test {
protected:
    Train()
        : out_((directory_ / "run.rsdb").string())
    {
        std::string text;
        for (int i = 0; i < 2000; ++i)
            text += "the quick brown fox jumps over the lazy dog " + std::to_string(i) + "\n";
        data_ = directory_.write("text.txt", text).string();
    }

    /// A model so small that a step takes milliseconds.
    std::vector<std::string> words(std::vector<std::string> more) const
    {
        std::vector<std::string> all{ "train", "--out", out_, "data.path=" + data_, "model.layers=2", "model.width=16",
            "model.heads=2", "model.sequence=16", "batch.micro_batch=1", "batch.micro_batches=2",
            "train.peak_gflops=10" };
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    support::TemporaryDirectory directory_;
    std::string data_;
    std::string out_;
};

std::vector<std::string> linesOf(const std::string& text)
{
    std::vector<std::string> lines;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
        lines.push_back(text.substr(begin, end - begin));
    return lines;
}

int stepsIn(const std::string& output)
{
    int steps = 0;
    for (const std::string& line : linesOf(output)) {
        rapidjson::Document document;
        document.Parse(line.c_str());
        steps += document.IsObject() && document.HasMember("step_ms");
    }
    return steps;
}

} // namespace

TEST_F(Train, RunsTwoStagesAndLeavesAFinishedFileThatTheReportReads)
{
    const auto outcome = runRankscope(words({ "parallel.pp=2", "train.steps=6" }));
    ASSERT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_EQ(stepsIn(outcome.output), 6) << outcome.output;
    EXPECT_NE(outcome.error.find("rankscope report " + out_), std::string::npos) << outcome.error;

    auto reader = TraceReader::open(out_);
    ASSERT_TRUE(reader) << reader.error().message();
    EXPECT_TRUE(reader->run()->finished);
    EXPECT_EQ(reader->run()->name, "run");
    EXPECT_EQ(reader->ranks()->size(), 2U);
    EXPECT_EQ(reader->steps()->size(), 12U);
    EXPECT_FALSE(std::filesystem::exists(out_ + "-wal"));

    const auto report = runRankscope({ "report", out_, "--json" });
    ASSERT_EQ(report.exitCode, 0) << report.error;
    rapidjson::Document document;
    document.Parse(report.output.c_str());
    for (const auto& rank : document["ranks"].GetArray()) {
        EXPECT_GT(rank["compute_ns"].GetInt64(), 0);
        EXPECT_GT(rank["communication_ns"].GetInt64(), 0);
        std::int64_t sum = 0;
        for (const auto& leaf : rank["split_ns"].GetObject())
            sum += leaf.value.GetInt64();
        EXPECT_EQ(sum, rank["window_ns"].GetInt64());
    }
}

TEST_F(Train, CtrlCStopsAfterTheStepAndKeepsTheFile)
{
    support::ChildProcess child(rankscope(words({ "train.steps=1000000" })));
    ASSERT_TRUE(support::waitUntil([&] { return stepsIn(child.output()) > 0; }, std::chrono::seconds(60)))
        << child.error();
    child.signal(SIGINT);
    const auto outcome = child.wait(std::chrono::seconds(60));
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_NE(outcome.output.find(R"("reason":"stopped")"), std::string::npos);
    auto reader = TraceReader::open(out_);
    ASSERT_TRUE(reader);
    EXPECT_TRUE(reader->run()->finished);
}

TEST_F(Train, DoesWhatItsRulesSayWhenTheRanksShowNoProgress)
{
    // Ranks that say one step and then wait for a word.
    const auto bin = directory_ / "bin";
    std::filesystem::create_directory(bin);
    const auto mpirun = directory_.write("bin/mpirun",
        "#!/bin/bash\necho '{\"schema\":1,\"step\":1,\"step_ms\":1}'\n"
        "until grep -qs stop $RANKSCOPE_SESSION/commands; do sleep 0.02; done\n"
        "echo commands: $(cat $RANKSCOPE_SESSION/commands)\n");
    std::filesystem::permissions(mpirun, std::filesystem::perms::owner_all);
    const auto rules = directory_.write("rules.toml",
        "owner = 'ann'\n[[detector]]\nkind = 'hang'\nthreshold = 0.05\naction = 'mark'\n"
        "[[detector]]\nkind = 'hang'\nthreshold = 0.1\naction = 'checkpoint'\n"
        "[[detector]]\nkind = 'hang'\nthreshold = 0.15\naction = 'stop'\nowner = 'bob'\n");
    const support::EnvironmentVariable path("PATH", bin.string() + ":" + std::getenv("PATH"));
    const auto outcome = runRankscope(words({ "--rules", rules.string(), "train.steps=2" }));
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_NE(outcome.output.find("commands: checkpoint stop\n"), std::string::npos) << outcome.output;
    std::vector<std::string> told; // a mark is not
    for (const std::string& line : linesOf(outcome.output)) {
        rapidjson::Document object;
        if (object.Parse(line.c_str()).IsObject() && object.HasMember("action"))
            told.push_back(std::string(object["action"].GetString()) + " for " + object["owner"].GetString());
    }
    EXPECT_EQ(told, (std::vector<std::string>{ "checkpoint for ann", "stop for bob" })) << outcome.output;
}

TEST_F(Train, DoesNotReplaceAFileThatAnotherTrainingRecords)
{
    support::ChildProcess first(rankscope(words({ "train.steps=1000000" })));
    ASSERT_TRUE(support::waitUntil([&] { return stepsIn(first.output()) > 0; }, std::chrono::seconds(60)))
        << first.error();
    const auto second = runRankscope(words({ "train.steps=1" }));
    first.signal(SIGINT);
    const auto outcome = first.wait(std::chrono::seconds(60));
    EXPECT_EQ(second.exitCode, 2) << second.error;
    EXPECT_EQ(second.error, "rankscope: --out " + out_ + ": another training is recording into it; choose another\n");
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    auto reader = TraceReader::open(out_);
    ASSERT_TRUE(reader);
    EXPECT_TRUE(reader->run()->finished);
}

TEST_F(Train, RefusesAWrongConfigurationInOneLineBeforeAnythingStarts)
{
    const auto expectRefusal = [&](const std::vector<std::string>& more, const std::string& part) {
        const auto outcome = runRankscope(words(more));
        EXPECT_EQ(outcome.exitCode, 2) << outcome.error;
        EXPECT_EQ(linesIn(outcome.error), 1U) << outcome.error;
        EXPECT_NE(outcome.error.find(part), std::string::npos) << outcome.error;
        EXPECT_EQ(outcome.output, "");
        EXPECT_FALSE(std::filesystem::exists(out_));
    };
    expectRefusal({ "model.lairs=2" }, "model.lairs");
    expectRefusal({ "parallel.pp=3" }, "parallel.pp");
    expectRefusal({ "data.path=/no/such/text" }, "/no/such/text");
    expectRefusal({ "--config", "/no/such.toml" }, "/no/such.toml");
}

TEST_F(Train, WithoutMpirunItNamesThePackage)
{
    auto command = rankscope(words({ "train.steps=1" }));
    command.environment = { { "PATH", "/no/such/folder" } };
    const auto outcome = support::run(command);
    EXPECT_EQ(outcome.exitCode, 2);
    EXPECT_EQ(linesIn(outcome.error), 1U) << outcome.error;
    EXPECT_NE(outcome.error.find("openmpi-bin"), std::string::npos) << outcome.error;
}

TEST_F(Train, LeavesAFileAloneThatIsNoRunFile)
{
    const auto note
        = directory_.write("run.rsdb", "my thesis, the only copy of it, longer than a header of a database");
    const auto outcome = runRankscope(words({ "train.steps=1" }));
    EXPECT_EQ(outcome.exitCode, 2) << outcome.error;
    EXPECT_EQ(support::readText(note), "my thesis, the only copy of it, longer than a header of a database");
}

TEST_F(Train, TextThatTheRanksRefuseLeavesTheOlderRunWhereItIs)
{
    ASSERT_EQ(runRankscope(words({ "train.steps=3" })).exitCode, 0);
    const std::string before = support::readText(out_);
    const auto latin1 = directory_.write("latin1.txt", std::string(20'000, '\xe9')).string();
    const auto refused = runRankscope(words({ "train.steps=3", "data.path=" + latin1 }));
    EXPECT_EQ(refused.exitCode, 2) << refused.error;
    EXPECT_NE(refused.error.find("not UTF-8 text"), std::string::npos) << refused.error;
    EXPECT_NE(refused.error.find("nothing was replaced: " + out_), std::string::npos) << refused.error;
    EXPECT_EQ(refused.error.find("rankscope report"), std::string::npos) << refused.error;
    EXPECT_TRUE(support::readText(out_) == before);
    EXPECT_FALSE(std::filesystem::exists(out_ + ".before"));
    // An accepted one takes its place.
    ASSERT_EQ(runRankscope(words({ "train.steps=4" })).exitCode, 0);
    EXPECT_EQ(TraceReader::open(out_)->steps()->size(), 4U);
    EXPECT_FALSE(std::filesystem::exists(out_ + ".before"));
}

TEST_F(Train, APlaceThatCannotBeWrittenIsWrongUsage)
{
    const auto outcome = runRankscope({ "train", "--out", "/proc/x", "data.path=" + data_ });
    EXPECT_EQ(outcome.exitCode, 2) << outcome.error;
    EXPECT_EQ(linesIn(outcome.error), 1U) << outcome.error;
    EXPECT_NE(outcome.error.find("--out /proc/x"), std::string::npos) << outcome.error;
}

TEST_F(Train, MoreRanksThanCoresRunAndSaySo)
{
    // On a machine with many cores four ranks simply run.
    const auto outcome = runRankscope(words({ "parallel.pp=2", "parallel.dp=2", "train.steps=2" }));
    ASSERT_EQ(outcome.exitCode, 0) << outcome.error;
    auto reader = TraceReader::open(out_);
    ASSERT_TRUE(reader);
    const auto cores = reader->run()->coresPerNode;
    ASSERT_TRUE(cores);
    EXPECT_EQ(outcome.error.find("share") != std::string::npos, *cores < 4) << outcome.error;
}

} // namespace rankscope::tracing
