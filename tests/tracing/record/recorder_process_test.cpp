#include "tests/support/session_folder.h"

#include "tracing/record/recorder.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>

namespace rankscope::tracing {

namespace {

Recorder::Options optionsFor(const SessionFolder& session)
{
    Recorder::Options options;
    options.sessionDir = session.path();
    options.ringBytes = 256u << 10;
    return options;
}

} // namespace

TEST(RecorderProcess, AForkedChildRecordsIntoItsOwnRingAndNeverIntoItsParents)
{
    const SessionFolder session;
    const auto recorder = Recorder::open(optionsFor(session));
    const LocalName name = recorder->name("before the fork");
    auto inherited = recorder->kernel({ .name = name, .work = 1 });

    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        inherited.end();
        for (std::uint32_t i = 0; i < 100; ++i)
            recorder->kernel({ .name = name, .work = 1000 + i }).end();
        _exit(recorder->isOn() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    inherited.end();

    const auto rings = session.files(kRingSuffix);
    ASSERT_EQ(rings.size(), 2u);
    for (const std::string& path : rings) {
        RingView ring(path);
        const bool isChild = ring.header().processId == child;
        EXPECT_EQ(ring.head(), isChild ? 100u : 1u);
        EXPECT_EQ(ring.record(0).kernel.work, isChild ? 1000u : 1u);
    }
    // The child says the names again in a file of its own.
    const auto facts = session.files(kFactsSuffix);
    ASSERT_EQ(facts.size(), 2u);
    for (const std::string& path : facts) {
        const FactsRead read = decodeFacts(readFile(path));
        ASSERT_EQ(read.facts.size(), 2u);
        EXPECT_EQ(std::get<NameFact>(read.facts[1]).text, "before the fork");
    }
}

TEST(RecorderProcess, ARingIsWholeAfterItsWriterWasKilledAtARandomMoment)
{
    for (int attempt = 0; attempt < 10; ++attempt) {
        const SessionFolder session;
        int ready[2];
        ASSERT_EQ(pipe(ready), 0);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            const auto recorder = Recorder::open(optionsFor(session));
            for (std::uint32_t i = 0;; ++i) {
                auto step = recorder->range({ .kind = RangeKind::Step, .step = i });
                recorder->kernel({ .flop = static_cast<double>(i), .work = i }).end();
                if (i == 0 && write(ready[1], "r", 1) != 1)
                    _exit(1);
            }
        }
        char byte = 0;
        ASSERT_EQ(read(ready[0], &byte, 1), 1);
        usleep(static_cast<useconds_t>(37 * attempt)); // another place in the loop each time
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        close(ready[0]);
        close(ready[1]);

        RingView ring(session.files(kRingSuffix).at(0));
        const std::uint64_t head = ring.head();
        ASSERT_GE(head, 1u);
        for (std::uint64_t n = 0; n < head; ++n) {
            const Record& record = ring.record(n);
            ASSERT_LE(record.beginTicks, record.endTicks);
            if (n % 2 == 0)
                ASSERT_EQ(record.kernel.flop, static_cast<double>(n / 2));
            else
                ASSERT_EQ(record.range.step, n / 2);
        }
        EXPECT_FALSE(isAlive({ ring.header().processId, ring.header().processStart }));
    }
}

TEST(RecorderProcess, AFullSessionFallsBackToDiskWithOneLineAndNobodyIsKilled)
{
    const SessionFolder session;
    const std::string small = session.path() + "/small";
    std::filesystem::create_directory(small);
    if (mount("none", small.c_str(), "tmpfs", 0, "size=128k") != 0)
        GTEST_SKIP() << "mounting a small file system needs root";
    auto options = optionsFor(session);
    options.sessionDir = small;
    testing::internal::CaptureStderr();
    {
        const auto recorder = Recorder::open(options);
        for (int i = 0; i < 5000; ++i)
            recorder->counter({}, i);
    }
    const std::string said = testing::internal::GetCapturedStderr();
    const std::string spill = std::filesystem::read_symlink(small + "/spill").string();

    EXPECT_EQ(said, "rankscope: " + small + " is full: rank 0 records to " + small + "/spill\n");
    std::vector<std::string> rings;
    for (const auto& entry : std::filesystem::directory_iterator(spill))
        rings.push_back(entry.path().string());
    ASSERT_EQ(rings.size(), 1u);
    EXPECT_EQ(RingView(rings[0]).head(), 4096u);
    std::filesystem::remove_all(spill);
    umount2(small.c_str(), MNT_DETACH);
}

TEST(RecorderProcess, AReusedProcessIdIsNotTheWriter)
{
    ProcessIdentity self = thisProcess();
    EXPECT_TRUE(isAlive(self));
    self.start += 1;
    EXPECT_FALSE(isAlive(self));
}

} // namespace rankscope::tracing
