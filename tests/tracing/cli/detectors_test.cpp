#include "tests/support/temporary_directory.h"
#include "tests/tracing/cli/rankscope_program.h"
#include "tracing/analysis/check/rules.h"
#include "tracing/model/sha256.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

// One real training in which three things go wrong, watched by rules that were registered before.

namespace rankscope::tracing {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

class Detectors : public testing::Test {
protected:
    Detectors()
    {
        std::string text;
        for (int line = 0; line < 2000; ++line)
            text += "line " + std::to_string(line * line % 97) + " of a text that is easy to learn\n";
        data_ = directory_.write("text.txt", text).string();
    }

    std::vector<std::string> trainWords(const std::vector<std::string>& more) const
    {
        std::vector<std::string> words{ "train", "--json", "--out", run_, "data.path=" + data_, "model.layers=2",
            "model.width=64", "model.heads=2", "model.sequence=64", "batch.micro_batch=1", "batch.micro_batches=2",
            "parallel.dp=2", "train.threads=1", "train.peak_gflops=10", "train.validate_every=0", "train.steps=24",
            "checkpoint.dir=" + (directory_ / "states").string(), "checkpoint.every=4", "recovery.restarts=2" };
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

    support::TemporaryDirectory directory_;
    std::string data_;
    std::string run_ = (directory_ / "run.rsdb").string();
};

/// The alert of that kind, as the file keeps it.
LiveAlert find(const std::vector<LiveAlert>& alerts, const std::string& kind)
{
    const auto found
        = std::ranges::find_if(alerts, [&](const LiveAlert& alert) { return alert.title.starts_with(kind + ": "); });
    return found == alerts.end() ? LiveAlert() : *found;
}

TEST_F(Detectors, SeeWhatGoesWrongInARealTrainingAndActOnIt)
{
    const std::string text = "owner = 'ann'\n"
                             "[[rule]]\nmetric = 'failures'\nat_most = 2\n"
                             "[[detector]]\nkind = 'straggler'\naction = 'mark'\n"
                             "[[detector]]\nkind = 'hang'\nthreshold = 1.5\naction = 'restart'\n"
                             "[[detector]]\nkind = 'not_a_number'\naction = 'restart'\nowner = 'bob'\n";
    const auto rules = directory_.write("rules.toml", text).string();
    const auto outcome = runRankscope(trainWords({ "--rules", rules, "fault.0.kind=slow_rank", "fault.0.rank=1",
        "fault.0.step=6", "fault.0.until=11", "fault.0.factor=3", "fault.1.kind=hung_rank", "fault.1.rank=1",
        "fault.1.step=14", "fault.2.kind=nan_gradient", "fault.2.rank=0", "fault.2.step=18", "fault.2.attempt=1" }));
    ASSERT_EQ(outcome.exitCode, 0) << outcome.output << outcome.error;

    auto reader = std::move(*TraceReader::open(run_));
    const auto alerts = reader.alerts();
    ASSERT_TRUE(alerts);
    const LiveAlert slow = find(*alerts, "straggler");
    EXPECT_EQ(slow.ranks, std::vector<std::int32_t>{ 1 });
    EXPECT_NE(slow.text.find("at step 8; for ann; mark"), std::string::npos)
        << "slow in steps 6, 7, 8: " << slow.title << slow.text;

    const LiveAlert hang = find(*alerts, "hang");
    EXPECT_EQ(hang.ranks, std::vector<std::int32_t>{ 1 });
    EXPECT_NE(hang.title.find("rank 1 is stopped"), std::string::npos) << hang.title;
    EXPECT_NE(hang.title.find("rank 1 did not join all-reduce "), std::string::npos) << hang.title;
    EXPECT_NE(hang.text.find("restart"), std::string::npos) << hang.text;
    // From the last sign of life to the alert.
    EXPECT_LT(hang.window.durationNs(), 10 * kSecondNs);
    EXPECT_GT(hang.window.durationNs(), kSecondNs);

    const LiveAlert none = find(*alerts, "not_a_number");
    EXPECT_NE(none.title.find("is not a number"), std::string::npos);
    EXPECT_NE(none.text.find("for bob"), std::string::npos) << none.text;
    EXPECT_GT(none.window.beginNs, hang.window.endNs);

    const auto failures = reader.failures();
    ASSERT_TRUE(failures);
    ASSERT_EQ(failures->size(), 2U) << "a restart for the hang, one for the number, none more";
    EXPECT_TRUE((*failures)[0].reason.starts_with("hang: rank 1 is stopped")) << (*failures)[0].reason;
    EXPECT_EQ((*failures)[0].restoredStep, 12);
    // The ranks say so themselves, unless the rule was quicker.
    EXPECT_NE((*failures)[1].reason.find("is not a number"), std::string::npos) << (*failures)[1].reason;
    EXPECT_EQ((*failures)[1].restoredStep, 16);

    // The rules are registered; the same ones confirm, others are told.
    const auto facts = reader.provenance();
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->at(std::string(kRulesHashKey)), sha256(text));
    EXPECT_EQ(facts->at(std::string(kRulesKey)), text);
    const auto same = runRankscope({ "check", run_, "--rules", rules });
    EXPECT_EQ(same.exitCode, 0) << same.output << same.error;
    const auto later = directory_.write("later.toml", text + "# a second thought\n").string();
    const auto changed = runRankscope({ "check", run_, "--rules", later });
    EXPECT_EQ(changed.exitCode, 1);
    EXPECT_NE(changed.output.find("changed after the run began"), std::string::npos) << changed.output;

    // What the rules would have said, had somebody watched with them; a hang is seen while it lasts only.
    const auto watched = runRankscope({ "watch", run_, "--rules", rules });
    EXPECT_EQ(watched.exitCode, 1) << watched.error;
    EXPECT_NE(watched.output.find("straggler: rank 1 computes"), std::string::npos) << watched.output;
    EXPECT_EQ(watched.output.find("hang"), std::string::npos) << watched.output;
}

TEST_F(Detectors, OfSomebodyWhoWatchesFromOutsideStopTheRun)
{
    // Steps of a few ms: whoever starts on the other half of a rank's core slows three of them down by more than the
    // rule's usual measure allows, and this rule would stop the run for that.
    const auto rules
        = directory_
              .write("rules.toml", "[[detector]]\nkind = 'straggler'\nsteps = 20\nowner = 'bob'\naction = 'stop'\n")
              .string();
    std::vector<std::string> words = trainWords(
        { "train.steps=100000", "fault.0.kind=slow_rank", "fault.0.rank=0", "fault.0.step=100", "fault.0.factor=3" });
    support::ChildProcess training(rankscope(words));
    ASSERT_TRUE(support::waitUntil(
        [&] { return training.output().find("step_ms") != std::string::npos; }, std::chrono::seconds(60)))
        << training.error();
    const auto watched = runRankscope({ "watch", run_, "--rules", rules, "--json" });
    const auto outcome = training.wait(std::chrono::seconds(60));
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_NE(outcome.output.find(R"("reason":"stopped")"), std::string::npos);
    EXPECT_EQ(watched.exitCode, 1) << watched.error;
    EXPECT_NE(watched.output.find(R"("kind":"straggler")"), std::string::npos) << watched.output;
    auto reader = std::move(*TraceReader::open(run_));
    EXPECT_EQ(find(*reader.alerts(), "straggler").ranks, std::vector<std::int32_t>{ 0 }) << watched.output;
}

} // namespace
} // namespace rankscope::tracing
