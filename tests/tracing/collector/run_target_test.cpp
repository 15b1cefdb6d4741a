#include "tests/tracing/collector/job.h"

#include "tracing/collector/run_target.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace rankscope::tracing {

TEST(RunTarget, FileSystemsWithoutSharedMemoryAreKnownByTheirNumber)
{
    EXPECT_EQ(networkFileSystemName(0x6969), "nfs");
    EXPECT_EQ(networkFileSystemName(0x0bd00bd0), "lustre");
    EXPECT_EQ(networkFileSystemName(0x47504653), "gpfs");
    EXPECT_EQ(networkFileSystemName(0x65735546), "fuse");
    EXPECT_EQ(networkFileSystemName(static_cast<int>(0xff534d42)), "smb") << "also where the number comes negative";
    EXPECT_EQ(networkFileSystemName(0x01021994), "") << "tmpfs";
    EXPECT_EQ(networkFileSystemName(0xef53), "") << "ext4";
    EXPECT_EQ(networkFileSystemOf("/nowhere"), "");
}

TEST(RunTarget, ARestartedCollectorGoesOnWithTheFileItNoted)
{
    const JobFolder folder;
    const auto first = RunTarget::choose(folder.session(), folder.runFile());
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->isResumed());
    EXPECT_FALSE(first->isLocalCopy());
    EXPECT_FALSE(RunTarget::choose(folder.session(), folder.runFile())->isResumed())
        << "killed before the file was there";
    std::ofstream(folder.runFile()) << "something";
    EXPECT_TRUE(RunTarget::choose(folder.session(), folder.runFile())->isResumed());
    EXPECT_TRUE(RunTarget::isNoted(folder.session(), folder.runFile()));
    EXPECT_FALSE(RunTarget::isNoted(folder.session(), folder.root() + "/other.rsdb"));
}

TEST(RunTarget, ALocalCopyIsDeliveredWholeAndTakenAway)
{
    const JobFolder folder;
    const std::string local = folder.root() + "/local";
    std::filesystem::create_directory(local);
    std::ofstream(local + "/run.rsdb") << "the run";
    std::ofstream(folder.session() + "/target") << folder.runFile() << '\n' << local << "/run.rsdb\n";
    const auto target = RunTarget::choose(folder.session(), folder.runFile());
    ASSERT_TRUE(target);
    EXPECT_TRUE(target->isResumed());
    ASSERT_TRUE(target->isLocalCopy());
    ASSERT_TRUE(target->deliver());
    std::string text;
    std::getline(std::ifstream(folder.runFile()) >> std::ws, text);
    EXPECT_EQ(text, "the run");
    EXPECT_FALSE(std::filesystem::exists(local));
}

} // namespace rankscope::tracing
