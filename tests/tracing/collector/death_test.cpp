#include "tests/tracing/collector/job.h"

#include "tracing/record/ring_layout.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

// Whoever is killed, the run file opens, and what is missing is counted.

namespace rankscope::tracing {

namespace {

CollectOptions optionsFor(const JobFolder& folder)
{
    CollectOptions options;
    options.sessionDir = folder.session();
    options.out = folder.runFile();
    options.runName = "small";
    return options;
}

/// A one-way signal between processes.
class Gate {
public:
    Gate() { EXPECT_EQ(pipe(ends_), 0); }
    ~Gate()
    {
        close(ends_[0]);
        close(ends_[1]);
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    void open() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }
    void pass() const
    {
        char byte = 0;
        EXPECT_EQ(read(ends_[0], &byte, 1), 1);
    }

private:
    int ends_[2] = { -1, -1 };
};

std::string lossesOf(TraceReader& reader)
{
    return valueOf(reader, "SELECT group_concat(kind || ' x' || count || ': ' || detail, '; ') FROM loss_report");
}

} // namespace

TEST(Death, ARankThatDiesInAnAllReduceIsShownThereUntilTheEndOfTheRun)
{
    const JobFolder folder;
    const Gate hanging;
    const pid_t victim = inChild([&] {
        SmallRank{ .session = folder.session(), .rank = 1, .steps = 10 }.record([&](Recorder& recorder) {
            auto step = recorder.range({ .kind = RangeKind::Step, .step = 10 });
            auto reduce = recorder.collective({ .op = CollectiveOp::AllReduce, .communicator = {}, .sequence = 10 });
            hanging.open();
            pause();
        });
    });
    hanging.pass();
    ASSERT_TRUE(joined(inChild([&] { SmallRank{ .session = folder.session(), .rank = 0, .steps = 10 }.record(); })));
    killed(victim);

    const auto summary = collectAll(folder);

    ASSERT_TRUE(summary) << summary.error().message();
    auto reader = TraceReader::open(folder.runFile());
    ASSERT_TRUE(reader);
    EXPECT_EQ(lossesOf(*reader), "rank died x1: rank 1 died in all-reduce dp #10");
    const std::string part = "FROM collective JOIN lane ON lane.id = lane WHERE lane.rank = 1 AND instance IN"
                             " (SELECT id FROM collective_match WHERE sequence = 10)";
    EXPECT_EQ(valueOf(*reader, "SELECT count(*) " + part), "1");
    const auto window = reader->window();
    ASSERT_TRUE(window);
    // To the head of the run, but for the rounding between ticks and ns.
    const std::string end = valueOf(*reader, "SELECT collective.begin_ns + collective.duration_ns " + part);
    ASSERT_EQ(end.find_first_not_of("0123456789"), std::string::npos) << end;
    const std::int64_t endNs = std::stoll(end);
    EXPECT_NEAR(static_cast<double>(endNs), static_cast<double>(window->endNs), 2);
    EXPECT_EQ(valueOf(*reader, "SELECT count(*) FROM step"), "21");
    EXPECT_EQ(valueOf(*reader, "SELECT parts_present FROM collective_match WHERE sequence = 10"), "1");
}

TEST(Death, AMissingPartnerLeavesIncompleteMatchesAndUnsplitTiles)
{
    const JobFolder folder;
    ASSERT_TRUE(joined(inChild([&] { SmallRank{ .session = folder.session(), .rank = 0 }.record(); })));

    const auto summary = collectAll(folder);

    ASSERT_TRUE(summary) << summary.error().message();
    auto reader = TraceReader::open(folder.runFile());
    EXPECT_EQ(valueOf(*reader,
                  "SELECT count(*) FROM collective_match WHERE parts_present = 1 AND parts_expected = 2"
                  " AND late_rank IS NULL"),
        "200");
    const auto lanes = reader->lanes();
    ASSERT_TRUE(lanes);
    for (const Lane& lane : *lanes) {
        if (lane.kind != LaneKind::Communication)
            continue;
        const auto tiles = reader->tiles(lane.id, kTileLevels - 1, *reader->window());
        ASSERT_TRUE(tiles && !tiles->empty());
        EXPECT_EQ(tiles->front().classNs[static_cast<std::size_t>(SpanClass::Communication)], tiles->front().busyNs);
        EXPECT_EQ(tiles->front().count, 100);
    }
}

TEST(Death, WhatAFullRingDroppedIsCounted)
{
    const JobFolder folder;
    // 4,096 records fit; 1,000 steps of rank 0 are 6,000.
    const SmallRank rank{ .session = folder.session(), .worldSize = 1, .steps = 1000, .ringBytes = 256u << 10 };
    ASSERT_TRUE(joined(inChild([&] { rank.record(); })));
    const auto summary = collectAll(folder);
    ASSERT_TRUE(summary) << summary.error().message();
    auto reader = TraceReader::open(folder.runFile());
    EXPECT_EQ(lossesOf(*reader), "ring full x1904: rank 0: records that found the ring full");
    EXPECT_EQ(summary->dropped, 1904u);
}

TEST(Death, ACollectorKilledAtRandomMomentsLosesAndDoublesNothing)
{
    constexpr int kSteps = 4000, kMostKills = 25;
    const JobFolder folder;
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < 2; ++rank) {
        ranks.push_back(inChild([&] {
            SmallRank{
                .session = folder.session(), .rank = rank, .steps = kSteps, .ringBytes = 4u << 20, .pauseUs = 50
            }
                .record();
        }));
    }
    int kills = 0;
    for (unsigned delayUs = 3000; kills < kMostKills; ++kills) {
        const pid_t collector = inChild([&] {
            if (!collect(optionsFor(folder)))
                _exit(1);
        });
        usleep(delayUs);
        delayUs = (delayUs * 7 + 1013) % 40'000; // another moment each time
        killed(collector);
    }
    for (const pid_t rank : ranks)
        ASSERT_TRUE(joined(rank));
    const auto summary = collectAll(folder);
    ASSERT_TRUE(summary) << summary.error().message();
    EXPECT_EQ(whatIsWrong(folder.runFile(), 2, kSteps), "");

    // Tiles as well: each level counts every span once.
    auto reader = TraceReader::open(folder.runFile());
    const auto lanes = reader->lanes();
    ASSERT_TRUE(lanes);
    const Window all = *reader->window();
    for (const Lane& lane : *lanes) {
        if (lane.kind == LaneKind::Counter)
            continue;
        for (int level = 0; level < kTileLevels; ++level) {
            const auto tiles = reader->tiles(lane.id, level, { all.beginNs, all.endNs + 1 });
            ASSERT_TRUE(tiles);
            std::int64_t count = 0;
            for (const Tile& tile : *tiles)
                count += tile.count;
            const bool isRank1Compute = lane.kind == LaneKind::Compute && lane.rank == 1;
            const std::int64_t perStep = lane.kind == LaneKind::Compute ? (isRank1Compute ? 3 : 2) : 1;
            EXPECT_EQ(count, perStep * kSteps) << lane.name << " of rank " << lane.rank << ", level " << level;
        }
    }
}

TEST(Death, ALiveRunIsReadableWhileItGrowsAndEndsWhenItsWritersAreGone)
{
    const JobFolder folder;
    const Gate written, seen;
    const pid_t rank = inChild([&] {
        SmallRank{ .session = folder.session(), .worldSize = 1, .steps = 50 }.record([&](Recorder&) {
            written.open();
            seen.pass();
        });
    });
    const pid_t collector = inChild([&] {
        auto options = optionsFor(folder);
        options.quiet = std::chrono::milliseconds(50);
        if (!collect(options))
            _exit(1);
    });
    written.pass();
    std::string steps;
    for (int attempt = 0; attempt < 1000 && steps != "50"; ++attempt) {
        if (auto reader = TraceReader::open(folder.runFile()))
            steps = valueOf(*reader, "SELECT count(*) FROM step");
        usleep(10'000);
    }
    EXPECT_EQ(steps, "50") << "while the rank still lives";
    seen.open();
    EXPECT_TRUE(joined(rank));
    EXPECT_TRUE(joined(collector)) << "ends by itself";
    auto reader = TraceReader::open(folder.runFile());
    EXPECT_TRUE(reader->run()->finished);
}

TEST(Death, ASecondCollectorOfASessionIsRefused)
{
    const JobFolder folder;
    const pid_t first = inChild([&] { static_cast<void>(collect(optionsFor(folder))); });
    for (int attempt = 0; attempt < 1000 && !std::filesystem::exists(folder.runFile()); ++attempt)
        usleep(5000);
    const auto second = collect(optionsFor(folder));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().message(), "session " + folder.session() + " has a collector already");
    killed(first);
}

TEST(Death, WhatACrashLeftIsDrainedWhenTheRunIsNextOpened)
{
    const JobFolder folder;
    const pid_t rank = inChild([&] { SmallRank{ .session = folder.session(), .worldSize = 1, .steps = 10 }.record(); });
    ASSERT_TRUE(joined(rank));
    // The collector dies with everything in the file's hands but the last rings.
    const pid_t collector = inChild([&] {
        auto options = optionsFor(folder);
        options.quiet = std::chrono::milliseconds(60'000);
        options.keepSession = true;
        static_cast<void>(collect(options));
    });
    for (int attempt = 0; attempt < 1000; ++attempt) {
        auto reader = TraceReader::open(folder.runFile());
        if (reader && valueOf(*reader, "SELECT count(*) FROM step") == "10")
            break;
        usleep(5000);
    }
    killed(collector);
    ASSERT_TRUE(joined(inChild(
        [&] { SmallRank{ .session = folder.session(), .worldSize = 1, .firstStep = 10, .steps = 10 }.record(); })));

    const auto drained = drainLeftover(folder.runFile());

    ASSERT_TRUE(drained) << drained.error().message();
    EXPECT_TRUE(*drained);
    auto reader = TraceReader::open(folder.runFile());
    EXPECT_EQ(valueOf(*reader, "SELECT count(*) FROM step"), "20");
    EXPECT_TRUE(reader->run()->finished);
    const auto again = drainLeftover(folder.runFile());
    ASSERT_TRUE(again);
    EXPECT_FALSE(*again);
}

TEST(Death, ASessionThatRecordsIntoAnotherFileIsLeftAlone)
{
    const JobFolder folder;
    ASSERT_TRUE(
        joined(inChild([&] { SmallRank{ .session = folder.session(), .worldSize = 1, .steps = 10 }.record(); })));
    const pid_t collector = inChild([&] {
        auto options = optionsFor(folder);
        options.quiet = std::chrono::milliseconds(60'000);
        static_cast<void>(collect(options));
    });
    for (int attempt = 0; attempt < 1000 && !TraceReader::open(folder.runFile()); ++attempt)
        usleep(5000);
    killed(collector);
    const std::string moved = folder.root() + "/moved.rsdb";
    for (const char* part : { "", "-wal", "-shm" }) {
        if (std::filesystem::exists(folder.runFile() + part))
            std::filesystem::rename(folder.runFile() + part, moved + part);
    }
    const auto drained = drainLeftover(moved);
    ASSERT_TRUE(drained);
    EXPECT_FALSE(*drained);
    EXPECT_TRUE(TraceReader::open(moved));
}

TEST(Death, AFileIsBusyAsLongAsItsCollectorLives)
{
    const JobFolder folder;
    ASSERT_TRUE(
        joined(inChild([&] { SmallRank{ .session = folder.session(), .worldSize = 1, .steps = 10 }.record(); })));
    const pid_t collector = inChild([&] {
        auto options = optionsFor(folder);
        options.quiet = std::chrono::milliseconds(60'000);
        static_cast<void>(collect(options));
    });
    const auto isBusy = [&] {
        const auto busy = isBeingRecorded(folder.runFile());
        return busy && *busy;
    };
    for (int attempt = 0; attempt < 1000 && !isBusy(); ++attempt)
        usleep(5000);
    const bool before = isBusy();
    killed(collector);
    const auto after = isBeingRecorded(folder.runFile());
    EXPECT_TRUE(before);
    ASSERT_TRUE(after);
    EXPECT_FALSE(*after);
}

TEST(Death, AFullDiskStopsRecordingInOneMessageAndTheJobGoesOn)
{
    const JobFolder folder;
    const std::string disk = folder.root() + "/disk";
    std::filesystem::create_directory(disk);
    if (mount("none", disk.c_str(), "tmpfs", 0, "size=1m") != 0)
        GTEST_SKIP() << "mounting a small disk needs root";
    auto options = optionsFor(folder);
    options.out = disk + "/run.rsdb";
    ASSERT_TRUE(announceJobOver(options.sessionDir));
    const SmallRank rank{ .session = folder.session(), .worldSize = 1, .steps = 30'000, .ringBytes = 16u << 20 };
    ASSERT_TRUE(joined(inChild([&] { rank.record(); })));

    testing::internal::CaptureStderr();
    const auto summary = collect(options);
    const std::string said = testing::internal::GetCapturedStderr();

    EXPECT_FALSE(summary);
    EXPECT_NE(said.find("recording has stopped, the job goes on"), std::string::npos) << said;
    auto reader = TraceReader::open(options.out);
    EXPECT_TRUE(reader) << reader.error().message();
    if (reader) {
        EXPECT_EQ(valueOf(*reader, "PRAGMA integrity_check"), "ok");
    }
    umount2(disk.c_str(), MNT_DETACH);
}

TEST(Death, SharedMemoryOfKilledRanksGoesWithTheirSession)
{
    const JobFolder folder;
    std::ofstream(folder.session() + "/vader_segment.host.0.2c3e0001.1") << "left by a killed rank";
    ASSERT_TRUE(joined(inChild([&] { SmallRank{ .session = folder.session(), .worldSize = 1 }.record(); })));
    const auto summary = collectAll(folder);
    ASSERT_TRUE(summary) << summary.error().message();
    EXPECT_FALSE(std::filesystem::exists(folder.session()));
}

TEST(Death, ACollectorThatIsStoppedWhileRanksRecordLeavesTheRunToTheNext)
{
    const JobFolder folder;
    const Gate written, seen;
    const pid_t rank = inChild([&] {
        SmallRank{ .session = folder.session(), .worldSize = 1, .steps = 20 }.record([&](Recorder&) {
            written.open();
            seen.pass();
        });
    });
    written.pass();
    const std::atomic<bool> stop{ true };
    auto options = optionsFor(folder);
    options.stop = &stop;
    const auto first = collect(options);
    ASSERT_TRUE(first) << first.error().message();
    EXPECT_FALSE(TraceReader::open(folder.runFile())->run()->finished);

    seen.open();
    ASSERT_TRUE(joined(rank));
    const auto second = collect(options);
    ASSERT_TRUE(second) << second.error().message();
    auto reader = TraceReader::open(folder.runFile());
    EXPECT_TRUE(reader->run()->finished);
    EXPECT_EQ(valueOf(*reader, "SELECT count(*) FROM step"), "20");
}

} // namespace rankscope::tracing
