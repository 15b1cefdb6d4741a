#include "backend/checkpoint/checkpoint_folder.h"

#include "backend/checkpoint/shard_file.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace rankscope::backend {

namespace {

/// Writes and publishes a checkpoint of one shard.
void publish(const CheckpointFolder& folder, std::int64_t step, int attempt, int keep = 100)
{
    std::vector<float> floats{ static_cast<float>(step) };
    ASSERT_TRUE(folder.makeShardFolder(step, attempt));
    const std::string file = folder.shardFile(step, attempt, 0);
    const auto sum = writeShard(folder.pathOf(file), { { "w", 0, floats } });
    ASSERT_TRUE(sum);
    const auto published = folder.publish({ step, attempt, "a model", "dp 1", { { file, *sum } } }, keep);
    ASSERT_TRUE(published) << published.error().message();
}

std::vector<std::string> namesOf(const std::vector<std::string>& paths)
{
    std::vector<std::string> names;
    for (const std::string& path : paths)
        names.push_back(std::filesystem::path(path).filename().string());
    return names;
}

} // namespace

TEST(CheckpointFolder, ListsTheNewestFirstAndALaterAttemptBeforeAnEarlier)
{
    const support::TemporaryDirectory dir;
    const CheckpointFolder folder(dir.path().string(), "run-a");
    publish(folder, 30, 0);
    publish(folder, 20, 1);
    publish(folder, 40, 0);
    EXPECT_EQ(namesOf(folder.candidates(false)),
        (std::vector<std::string>{
            "step-00000040.0.manifest", "step-00000030.0.manifest", "step-00000020.1.manifest" }));
}

TEST(CheckpointFolder, KeepsTheNewestAndTakesTheShardsOfOthersAway)
{
    const support::TemporaryDirectory dir;
    const CheckpointFolder folder(dir.path().string(), "run-a");
    for (const std::int64_t step : { 10, 20, 30 })
        publish(folder, step, 0, 2);
    EXPECT_EQ(namesOf(folder.candidates(false)),
        (std::vector<std::string>{ "step-00000030.0.manifest", "step-00000020.0.manifest" }));
    EXPECT_FALSE(std::filesystem::exists(dir.path() / "run-a/step-00000010.0"));
    // The same step again, in a later attempt, takes the place of the earlier one.
    publish(folder, 30, 1, 2);
    EXPECT_EQ(namesOf(folder.candidates(false)),
        (std::vector<std::string>{ "step-00000030.1.manifest", "step-00000020.0.manifest" }));
}

TEST(CheckpointFolder, OtherRunsCountOnlyWhereAsked)
{
    const support::TemporaryDirectory dir;
    publish({ dir.path().string(), "run-a" }, 50, 0);
    const CheckpointFolder folder(dir.path().string(), "run-b");
    EXPECT_TRUE(folder.candidates(false).empty());
    EXPECT_EQ(namesOf(folder.candidates(true)), (std::vector<std::string>{ "step-00000050.0.manifest" }));
}

TEST(CheckpointFolder, WhatWasPutAsideOrNeverPublishedIsNoCheckpoint)
{
    const support::TemporaryDirectory dir;
    const CheckpointFolder folder(dir.path().string(), "run-a");
    publish(folder, 10, 0);
    ASSERT_TRUE(folder.makeShardFolder(20, 0));
    publish(folder, 30, 0);
    CheckpointFolder::setAside(folder.manifestPath(30, 0));
    EXPECT_EQ(namesOf(folder.candidates(false)), (std::vector<std::string>{ "step-00000010.0.manifest" }));
    folder.removeUnfinished(1);
    EXPECT_FALSE(std::filesystem::exists(dir.path() / "run-a/step-00000020.0"));
    EXPECT_TRUE(std::filesystem::exists(dir.path() / "run-a/step-00000030.0")) << "evidence of the damage";
}

TEST(Manifest, ComesBackAsItWasWritten)
{
    const support::TemporaryDirectory dir;
    const Manifest written{ 20, 1, "layers 4", "dp 2", { { "step/rank-0.shard", { 123456789012, 0xfedcba98 } } } };
    const auto read = readManifest(dir.write("m.manifest", manifestJson(written)).string());
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->step, 20);
    EXPECT_EQ(read->attempt, 1);
    EXPECT_EQ(read->identity, "layers 4");
    ASSERT_EQ(read->shards.size(), 1u);
    EXPECT_EQ(read->shards[0].file, "step/rank-0.shard");
    EXPECT_EQ(read->shards[0].sum, (FileSum{ 123456789012, 0xfedcba98 }));
    EXPECT_FALSE(readManifest(dir.write("torn.manifest", manifestJson(written).substr(0, 60)).string()));
}

} // namespace rankscope::backend
