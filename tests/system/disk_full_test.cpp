#include "tests/system/training_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sys/mount.h>

namespace rankscope::system {
namespace {

/// A file system of a few MB in memory, mounted on a directory of its own.
class SmallDisk {
public:
    explicit SmallDisk(const char* size)
        : mounted_(mount("tmpfs", directory_.path().c_str(), "tmpfs", 0, (std::string("size=") + size).c_str()) == 0)
        , reason_(mounted_ ? "" : std::string("cannot mount a small tmpfs: ") + std::strerror(errno))
    {
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk()
    {
        if (mounted_)
            umount2(directory_.path().c_str(), MNT_DETACH);
    }

    const std::string& reason() const { return reason_; }
    std::filesystem::path operator/(const char* name) const { return directory_ / name; }
    /// Leaves no byte to anybody else.
    void fill() const
    {
        std::ofstream filler(directory_ / "filler", std::ios::binary);
        const std::string page(4096, 'x');
        while (filler.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) { }
    }

private:
    support::TemporaryDirectory directory_;
    bool mounted_;
    std::string reason_;
};

int linesWith(const std::string& text, const std::string& word)
{
    int lines = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        lines += text.substr(begin, end - begin).find(word) != std::string::npos ? 1 : 0;
        begin = end + 1;
    }
    return lines;
}

TEST(FullDisk, StopsTheRecordingWithOneMessageAndNotTheTraining)
{
    if (const auto reason = reasonToSkipTraining(); !reason.empty())
        GTEST_SKIP() << reason;
    const SmallDisk disk("8m");
    if (!disk.reason().empty())
        GTEST_SKIP() << disk.reason();

    // Full by the progress of the run, not by its speed: something is in the file, and most is still to come.
    TrainingRun run({ "train.steps=150", "train.max_seconds=80" }, disk / "run.rsdb");
    run.start();
    ASSERT_TRUE(run.waitForStep(1)) << run.launcher().error();
    const auto session = run.session();
    EXPECT_TRUE(std::filesystem::exists(session));
    disk.fill();
    const auto outcome = run.finish();

    EXPECT_EQ(outcome.exitCode, 4) << outcome.error;
    EXPECT_EQ(linesWith(outcome.error, "disk is full"), 1) << outcome.error;
    EXPECT_EQ(linesWith(outcome.error, "the job goes on"), 1) << outcome.error;
    EXPECT_EQ(linesWith(outcome.error, "records are missing"), 1) << outcome.error;
    EXPECT_EQ(linesWith(outcome.output, "\"reason\":\"complete\""), 1) << outcome.output;
    const auto state = readState(run.file());
    EXPECT_EQ(state.error, "");
    EXPECT_EQ(state.integrity, "ok");
    EXPECT_FALSE(state.lastEndUtcNs.empty());
    EXPECT_FALSE(std::filesystem::exists(session)) << "the rings stay in memory";
}

} // namespace
} // namespace rankscope::system
