#include "backend/checkpoint/shard_file.h"

#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rankscope::backend {

TEST(ShardFile, GivesBackWhatWasWrittenAndItsSum)
{
    const support::TemporaryDirectory folder;
    const std::string path = (folder.path() / "rank-0.shard").string();
    std::vector<float> weights{ 1, 2, 3 }, moments{ 4, 5 };
    const auto sum = writeShard(path, { { "value/w", 7, weights }, { "moment1/w", 0, moments } });
    ASSERT_TRUE(sum) << sum.error().message();
    // Magic 8, count 8; names with lengths 8 + 7 and 8 + 9; begin and count 16 each; five floats.
    EXPECT_EQ(sum->bytes, 8u + 8 + (8 + 7 + 16) + (8 + 9 + 16) + 5 * 4);
    EXPECT_EQ(std::filesystem::file_size(path), sum->bytes);
    const auto again = sumOfFile(path);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, *sum);

    const auto index = readShardIndex(path);
    ASSERT_TRUE(index) << index.error().message();
    ASSERT_EQ(index->size(), 2u);
    EXPECT_EQ((*index)[0].name, "value/w");
    EXPECT_EQ((*index)[0].begin, 7u);
    EXPECT_EQ((*index)[1].floats, 2u);
    std::vector<float> read(2);
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(readFloats(file, (*index)[1].offset, read));
    EXPECT_EQ(read, moments);
    EXPECT_FALSE(readFloats(file, sum->bytes - 4, read)) << "only one is left";
}

TEST(ShardFile, AFullDiskIsAnErrorThatNamesTheFile)
{
    std::vector<float> floats(1 << 16);
    ShardHooks full;
    full.place = [](const std::string&) { return std::string("/dev/full"); };
    const auto sum = writeShard("/nowhere/rank-0.shard", { { "w", 0, floats } }, full);
    ASSERT_FALSE(sum);
    EXPECT_EQ(sum.error().message(), "write /dev/full: No space left on device");
}

TEST(ShardFile, WhatIsNoShardIsRefused)
{
    const support::TemporaryDirectory folder;
    const std::string path = folder.write("rank-0.shard", "RSSHARD1 and then nonsense that says it is long").string();
    EXPECT_FALSE(readShardIndex(path));
    EXPECT_FALSE(readShardIndex(folder.write("empty.shard", "").string()));
}

} // namespace rankscope::backend
