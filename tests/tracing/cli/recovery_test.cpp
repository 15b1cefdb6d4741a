#include "backend/checkpoint/checkpoint_folder.h"
#include "tests/support/temporary_directory.h"
#include "tests/tracing/cli/rankscope_program.h"
#include "tracing/store/fault_truth.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <sched.h>
#include <sstream>

// Whatever befalls a run, it ends with the losses of the undisturbed one, and no published checkpoint is damaged.

namespace rankscope::tracing {

namespace {

constexpr int kSteps = 16;

/// A number from the environment.
std::uint64_t numberOf(const char* variable, std::uint64_t otherwise)
{
    const char* text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Story {
    std::map<int, std::string> losses; ///< by step, as last printed
    std::map<std::string, int> events;
    std::string output;
};

class Recovery : public testing::Test {
protected:
    Recovery()
    {
        std::string text;
        for (int line = 0; line < 2000; ++line)
            text += "line " + std::to_string(line * line % 97) + " of a text that is easy to learn\n";
        data_ = directory_.write("text.txt", text).string();
    }

    Story train(const std::string& name, const std::vector<std::string>& more)
    {
        std::vector<std::string> words{ "train", "--json", "--out", run(name), "data.path=" + data_, "model.layers=2",
            "model.width=32", "model.heads=2", "model.sequence=32", "batch.micro_batch=1", "batch.micro_batches=2",
            "parallel.dp=2", "train.threads=1", "train.peak_gflops=10", "train.validate_every=0",
            "train.steps=" + std::to_string(kSteps), "checkpoint.dir=" + checkpoints(name), "checkpoint.every=4",
            "recovery.restarts=2" };
        words.insert(words.end(), more.begin(), more.end());
        const auto outcome = runRankscope(words);
        EXPECT_EQ(outcome.exitCode, 0) << outcome.output << outcome.error;
        Story story;
        story.output = outcome.output;
        std::istringstream lines(outcome.output);
        for (std::string line; std::getline(lines, line);) {
            rapidjson::Document object;
            object.Parse(line.c_str());
            if (!object.IsObject())
                continue;
            if (object.HasMember("event"))
                ++story.events[object["event"].GetString()];
            else if (const std::size_t at = line.find("\"loss\":"); at != std::string::npos)
                story.losses[object["step"].GetInt()] = line.substr(at, line.find(',', at) - at);
        }
        return story;
    }

    std::string run(const std::string& name) const { return (directory_ / (name + ".rsdb")).string(); }
    std::string checkpoints(const std::string& name) const { return (directory_ / ("of-" + name)).string(); }

    int checkPublished(const std::string& name) const
    {
        int published = 0;
        const backend::CheckpointFolder folder(checkpoints(name), "none");
        for (const std::string& path : folder.candidates(true)) {
            const auto manifest = backend::readManifest(path);
            EXPECT_TRUE(manifest) << manifest.error().message();
            for (std::size_t shard = 0; manifest && shard < manifest->shards.size(); ++shard)
                EXPECT_TRUE(backend::checkShard(path, *manifest, shard)) << path;
            ++published;
        }
        return published;
    }

    support::TemporaryDirectory directory_;
    std::string data_;
};

} // namespace

TEST_F(Recovery, AKilledRankAtARandomMomentChangesNoLoss)
{
    const std::uint64_t seed = numberOf("RANKSCOPE_TEST_SEED", std::random_device{}());
    const auto draws = static_cast<int>(numberOf("RANKSCOPE_TEST_DRAWS", 4));
    std::cout << "RANKSCOPE_TEST_SEED=" << seed << " RANKSCOPE_TEST_DRAWS=" << draws << "\n";
    std::mt19937_64 chance(seed);
    const Story truth = train("truth", {});
    ASSERT_EQ(truth.losses.size(), static_cast<std::size_t>(kSteps));
    for (int draw = 0; draw < draws; ++draw) {
        const char* moments[]{ "forward", "all_reduce", "checkpoint" };
        const std::string moment = moments[static_cast<std::size_t>(draw) % 3];
        const std::string step = std::to_string(1 + chance() % kSteps), rank = std::to_string(chance() % 2);
        const std::string ms = std::to_string(chance() % 4), async = chance() % 2 == 0 ? "true" : "false";
        SCOPED_TRACE("rank " + rank + " in step " + step + " at " + moment + " + " + ms + " ms, async " + async);
        const Story story = train("killed",
            { "fault.0.kind=lost_rank", "fault.0.rank=" + rank, "fault.0.step=" + step, "fault.0.moment=" + moment,
                "fault.0.ms=" + ms, "checkpoint.async=" + async });
        EXPECT_EQ(story.losses, truth.losses);
        EXPECT_EQ(story.events.at("end"), 1) << story.output;
        EXPECT_LE(story.events.contains("failure") ? story.events.at("failure") : 0, 1);
        EXPECT_GE(checkPublished("killed"), 1);
    }
}

TEST_F(Recovery, WithFewerCoresItGoesOnWithFewerReplicas)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    if (CPU_COUNT(&cores) < 2)
        GTEST_SKIP() << "one core cannot become fewer";
    int left = 0;
    while (!CPU_ISSET(left, &cores))
        ++left;
    // An mpirun whose failure takes cores away from who started it, as a node that is lost would.
    const auto bin = directory_ / "bin";
    std::filesystem::create_directory(bin);
    const auto mpirun = directory_.write("bin/mpirun",
        "#!/bin/bash\nPATH=${PATH#*:}\nmpirun \"$@\"\ncode=$?\n((code == 0)) || taskset -p -c " + std::to_string(left)
            + " $PPID >/dev/null\nexit $code\n");
    std::filesystem::permissions(mpirun, std::filesystem::perms::owner_all);
    const std::string path = std::getenv("PATH");
    setenv("PATH", (bin.string() + ":" + path).c_str(), 1);
    const Story truth = train("truth", {});
    const Story story = train("shrunk",
        { "recovery.elastic=true", "fault.0.kind=lost_rank", "fault.0.rank=1", "fault.0.step=10",
            "fault.0.moment=all_reduce" });
    setenv("PATH", path.c_str(), 1);
    EXPECT_NE(story.output.find(R"("event":"restart","attempt":1,"dp":1,"reason":"1 of )"), std::string::npos)
        << story.output;
    // The same batches summed in another order.
    ASSERT_EQ(story.losses.size(), truth.losses.size());
    for (const auto& [step, loss] : truth.losses) {
        const auto number = [](const std::string& text) { return std::stod(text.substr(text.find(':') + 1)); };
        EXPECT_NEAR(number(story.losses.at(step)), number(loss), 1e-4 * number(loss)) << "step " << step;
    }
    auto reader = std::move(*TraceReader::open(run("shrunk")));
    const auto facts = reader.provenance();
    ASSERT_TRUE(facts);
    EXPECT_TRUE(facts->contains("attempt.1.layout"));
}

TEST_F(Recovery, AHungRankIsNamedAndTheRunGoesOn)
{
    const Story truth = train("truth", {});
    const Story story = train("hung",
        { "fault.0.kind=hung_rank", "fault.0.rank=1", "fault.0.step=6", "fault.0.moment=all_reduce",
            "recovery.hang_seconds=4" });
    EXPECT_EQ(story.losses, truth.losses);
    auto reader = std::move(*TraceReader::open(run("hung")));
    const auto failures = reader.failures();
    ASSERT_TRUE(failures);
    ASSERT_EQ(failures->size(), 1u);
    EXPECT_EQ(failures->front().reason, "rank 1 is stopped; no progress for 4 s");
    EXPECT_EQ(failures->front().ranks, std::vector<std::int32_t>{ 1 });
    EXPECT_EQ(failures->front().restoredStep, 4);
    const auto truthOfFaults = readFaultTruth(run("hung"));
    ASSERT_TRUE(truthOfFaults);
    ASSERT_EQ(truthOfFaults->size(), 1u);
    EXPECT_EQ(truthOfFaults->front().kind, "hung_rank");
}

TEST_F(Recovery, ANotANumberEndsTheAttemptAndACorruptShardIsSkipped)
{
    const Story truth = train("truth", {});
    const Story story = train("nan",
        { "fault.0.kind=corrupt_shard", "fault.0.rank=1", "fault.0.step=8", "fault.1.kind=nan_gradient",
            "fault.1.rank=0", "fault.1.step=10" });
    EXPECT_EQ(story.losses, truth.losses);
    EXPECT_EQ(story.events.at("checkpoint skipped"), 1) << story.output;
    EXPECT_EQ(story.events.at("failure"), 1);
    auto reader = std::move(*TraceReader::open(run("nan")));
    const auto failures = reader.failures();
    ASSERT_TRUE(failures && failures->size() == 1);
    EXPECT_EQ(failures->front().restoredStep, 4) << "the checkpoint of step 8 was damaged";
}

} // namespace rankscope::tracing
