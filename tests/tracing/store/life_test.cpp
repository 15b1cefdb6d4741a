#include "tests/tracing/store/store_fixture.h"

#include "tests/support/sql.h"
#include "tests/tracing/store/other_process.h"
#include "tracing/store/run_file.h"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <sys/resource.h>
#include <thread>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

/// Rows of some 50 bytes.
std::vector<Kernel> kernels(std::int64_t count, std::int64_t firstNs = 0)
{
    std::vector<Kernel> rows;
    for (std::int64_t i = 0; i < count; ++i) {
        rows.push_back(kernelAt(firstNs + 10 * i, firstNs + 10 * i + 5));
        rows.back().cpuNs = rows.back().work = rows.back().correlation = std::int64_t{ 1 } << 50;
    }
    return rows;
}

std::string integrity(const std::string& path) { return support::sql(path, "PRAGMA integrity_check"); }

/// Fills the file until the disk, or what stands for it, is full; "" or what was not as promised.
std::string fillUntilRefused(const std::string& path)
{
    auto writer = TraceWriter::open(path, TraceWriter::Mode::CreateNew);
    if (!writer)
        return why(writer);
    const LaneId lane = computeLane(*writer);
    const auto rows = kernels(10'000);
    std::string reason;
    for (int i = 0; i < 100 && reason.empty(); ++i) {
        if (auto begun = writer->begin(); !begun)
            reason = why(begun);
        else if (auto added = writer->append(lane, std::span<const Kernel>(rows)); !added)
            reason = why(added);
        else
            reason = why(writer->commit());
    }
    if (reason.empty())
        return "the disk never filled";
    if (why(writer->begin()) != reason || why(writer->append(lane, std::span<const Kernel>(rows))) != reason
        || why(writer->finish()) != reason)
        return "the writer does not stay unusable";
    auto reader = TraceReader::open(path);
    if (!reader)
        return "cannot be read: " + why(reader);
    const auto back = reader->kernels(lane, kAlways);
    if (!back || back->empty() || back->size() % rows.size() != 0)
        return "not whole commits: " + why(back);
    return reason;
}

} // namespace

using Life = StoreTest;

TEST_F(Life, ReadersSeeWholeCommitsOnly)
{
    auto writer = create();
    const LaneId first = computeLane(writer, 0);
    const LaneId second = computeLane(writer, 1);
    std::atomic<bool> done = false;
    std::atomic<int> reads = 0;
    std::thread watcher([&] {
        auto reader = read();
        std::size_t before = 0;
        for (bool last = false; !last; ++reads) {
            last = done;
            const auto rows = reader.kernels(first, kAlways);
            ASSERT_TRUE(rows) << why(rows);
            EXPECT_EQ(rows->size() % 300, 0u) << "three appends of 100 make a commit";
            EXPECT_GE(rows->size(), before);
            before = rows->size();
            EXPECT_GE(reader.kernels(second, kAlways)->size(), before) << "the same commits, read later";
        }
        EXPECT_EQ(before, 60u * 300u);
    });
    for (std::int64_t commit = 0; commit < 60; ++commit) {
        ASSERT_TRUE(writer.begin());
        for (std::int64_t i = 0; i < 3; ++i) {
            const auto rows = kernels(100, 1000 * (3 * commit + i));
            ASSERT_TRUE(writer.append(first, std::span<const Kernel>(rows)));
            ASSERT_TRUE(writer.append(second, std::span<const Kernel>(rows)));
        }
        ASSERT_TRUE(writer.commit());
    }
    done = true;
    watcher.join();
    EXPECT_GT(reads, 0);
}

TEST_F(Life, TheWalStaysBoundedWhileSomebodyReads)
{
    auto writer = create();
    const LaneId lane = computeLane(writer);
    auto reader = read();
    std::uintmax_t largest = 0;
    const auto rows = kernels(40'000);
    for (int i = 0; i < 15; ++i) {
        ASSERT_TRUE(writer.append(lane, std::span<const Kernel>(rows)));
        ASSERT_TRUE(reader.kernels(lane, { 0, 100 }));
        largest = std::max(largest, fs::file_size(path_ + "-wal"));
    }
    // 600 thousand rows are about 30 MB; the WAL begins anew after 16 MiB and the commit that passed them.
    EXPECT_LT(largest, 20u << 20);
}

TEST_F(Life, FinishLeavesASingleFileThatReadersGoOnWith)
{
    auto writer = create();
    ASSERT_TRUE(writer.setRun({ "sample", "rankscope", 0, 1, {}, false }));
    const LaneId lane = computeLane(writer);
    ASSERT_TRUE(writer.append(lane, std::span<const Kernel>(kernels(100))));
    auto reader = read();
    ASSERT_EQ(reader.kernels(lane, kAlways)->size(), 100u);

    std::atomic<bool> finished = false;
    std::string reason;
    std::thread finisher([&] {
        reason = why(writer.finish(std::chrono::seconds(20)));
        finished = true;
    });
    while (!finished) {
        const auto rows = reader.kernels(lane, kAlways);
        EXPECT_TRUE(rows && rows->size() == 100) << why(rows);
    }
    finisher.join();
    EXPECT_EQ(reason, "");
    EXPECT_EQ(support::sql(path_, "PRAGMA journal_mode"), "delete");
    EXPECT_FALSE(fs::exists(path_ + "-wal"));
    EXPECT_TRUE(reader.run()->finished);
    EXPECT_EQ(reader.kernels(lane, kAlways)->size(), 100u);
    EXPECT_EQ(integrity(path_), "ok");
}

TEST_F(Life, AReaderThatRestsDoesNotStopTheFinish)
{
    auto writer = create();
    const LaneId lane = computeLane(writer);
    ASSERT_TRUE(writer.append(lane, std::span<const Kernel>(kernels(100))));
    auto reader = read();
    EXPECT_EQ(why(writer.finish(std::chrono::milliseconds(30))), "");
    EXPECT_EQ(fs::file_size(path_ + "-wal"), 0u) << "all is in the file itself";
    EXPECT_TRUE(reader.run()->finished);
    EXPECT_EQ(reader.kernels(lane, kAlways)->size(), 100u);

    reader.release();
    auto again = std::move(*TraceWriter::open(path_, TraceWriter::Mode::Resume));
    EXPECT_EQ(why(again.finish()), "");
    EXPECT_EQ(support::sql(path_, "PRAGMA journal_mode"), "delete");
}

TEST_F(Life, KilledInsideATransactionLeavesTheCommitsBefore)
{
    killedWhenReady([&](const std::function<void()>& ready) {
        auto writer = create();
        const LaneId lane = computeLane(writer);
        static_cast<void>(writer.setRun({ "sample", "rankscope", 0, 1, {}, false }));
        for (std::int64_t i = 0; i < 3; ++i)
            static_cast<void>(writer.append(lane, std::span<const Kernel>(kernels(1000, 100'000 * i))));
        static_cast<void>(writer.begin());
        // More than the page cache holds, so that uncommitted pages stand in the WAL.
        for (std::int64_t i = 0; i < 6; ++i)
            static_cast<void>(writer.append(lane, std::span<const Kernel>(kernels(100'000))));
        ready();
    });
    EXPECT_GT(fs::file_size(path_ + "-wal"), 1u << 20);
    {
        auto reader = read();
        EXPECT_FALSE(reader.run()->finished);
        EXPECT_EQ(reader.kernels(LaneId{ 1 }, kAlways)->size(), 3000u);
        EXPECT_EQ(reader.counts()->at("kernel"), 3000);
    }
    EXPECT_EQ(integrity(path_), "ok");
    auto writer = std::move(*TraceWriter::open(path_, TraceWriter::Mode::Resume));
    ASSERT_TRUE(writer.append(computeLane(writer), std::span<const Kernel>(kernels(1, 900'000))));
    EXPECT_EQ(why(writer.finish()), "");
    EXPECT_EQ(read().kernels(LaneId{ 1 }, kAlways)->size(), 3001u);
}

TEST_F(Life, AWriterThatGoesWithoutCommitRollsBack)
{
    {
        auto writer = create();
        const LaneId lane = computeLane(writer);
        ASSERT_TRUE(writer.begin());
        ASSERT_TRUE(writer.append(lane, std::span<const Kernel>(kernels(10))));
    }
    EXPECT_TRUE(read().kernels(LaneId{ 1 }, kAlways)->empty());
}

TEST_F(Life, AFullDiskStopsTheWriterAndTheFileStaysReadable)
{
    const std::string answer = inChild(
        [&] {
            const std::string unable = mountSmall(folder_.path().string(), "4m");
            return unable.empty() ? fillUntilRefused(path_) : unable;
        },
        true);
    if (answer.starts_with("skip: "))
        GTEST_SKIP() << "a test cannot mount a small tmpfs here: " << answer;
    EXPECT_EQ(answer, "write " + path_ + ": database or disk is full");
}

TEST_F(Life, AWriteErrorStopsTheWriterAndTheFileStaysReadable)
{
    const std::string answer = inChild(
        [&] {
            std::signal(SIGXFSZ, SIG_IGN);
            const rlimit limit{ 2u << 20, 2u << 20 };
            ::setrlimit(RLIMIT_FSIZE, &limit);
            return fillUntilRefused(path_);
        },
        false);
    EXPECT_EQ(answer, "write " + path_ + ": disk I/O error");
}

TEST_F(Life, AFinishedFileOpensInAFolderWithoutTheRightToWrite)
{
    {
        auto writer = create();
        ASSERT_TRUE(writer.append(computeLane(writer), std::span<const Kernel>(kernels(7))));
        ASSERT_TRUE(writer.finish());
    }
    const std::string answer = inChild(
        [&]() -> std::string {
            const std::string unable = mountReadOnly(folder_.path().string());
            if (!unable.empty())
                return unable;
            auto reader = TraceReader::open(path_);
            if (!reader)
                return why(reader);
            reader->keep("ledger", 1, "all", "result"); // must not fail for it
            const auto rows = reader->kernels(LaneId{ 1 }, kAlways);
            return rows ? std::to_string(rows->size()) + " rows" : why(rows);
        },
        true);
    if (answer.starts_with("skip: "))
        GTEST_SKIP() << "a test cannot mount read only here: " << answer;
    EXPECT_EQ(answer, "7 rows");
}

TEST(ReadingUri, IsImmutableOnlyWhereNothingCanBeWrittenBesideTheFile)
{
    // folder writable, WAL has content, WAL index exists
    EXPECT_EQ(*readingUri("/d/run.rsdb", { true, false, false }), "file:/d/run.rsdb");
    EXPECT_EQ(*readingUri("/d/run.rsdb", { true, true, false }), "file:/d/run.rsdb") << "after a crash";
    EXPECT_EQ(*readingUri("/d/run.rsdb", { false, true, true }), "file:/d/run.rsdb") << "somebody else records";
    EXPECT_EQ(*readingUri("/d/run.rsdb", { false, false, false }), "file:/d/run.rsdb?immutable=1");
    EXPECT_EQ(why(readingUri("/d/run.rsdb", { false, true, false })),
        "the run was not finished and its folder is read only; copy /d/run.rsdb and /d/run.rsdb-wal to a folder that "
        "can be "
        "written");
}

} // namespace rankscope::tracing
