#include "tests/support/environment_variable.h"
#include "tests/support/temporary_directory.h"
#include "tracing/import/import_cache.h"
#include "tracing/import/importer.h"
#include "tracing/import/input_files.h"
#include "tracing/import/partial_file.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;
constexpr Window kAll{ INT64_MIN / 4, INT64_MAX / 4 };

class Files : public testing::Test {
protected:
    std::string write(const std::string& name, const std::string& text) const
    {
        const fs::path path = folder_.path() / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path.string();
    }
    /// One kernel at this time (us), of this rank where it is not empty.
    static std::string trace(int at, const std::string& rank = "", int step = 0, int world = 2)
    {
        const std::string info = rank.empty()
            ? ""
            : R"("distributedInfo": {"rank": )" + rank + R"(, "world_size": )" + std::to_string(world) + "},";
        return R"({"schemaVersion": 1, )" + info + R"("traceEvents": [
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": )"
            + std::to_string(at) + R"(, "dur": 5, "args": {}},
            {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#)"
            + std::to_string(step) + R"(", "pid": 9, "tid": 9, "ts": )" + std::to_string(at)
            + R"(, "dur": 9, "args": {}}]})";
    }
    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
    std::string out() const { return path("out.rsdb"); }
    ImportReport import(const std::vector<std::string>& inputs) const
    {
        auto report = importTraces(inputs, out());
        if (!report)
            ADD_FAILURE() << report.error().message();
        return report ? *report : ImportReport{};
    }
    static std::int64_t lossCount(const ImportReport& report, const std::string& kind)
    {
        const auto it = std::ranges::find(report.losses, kind, &Loss::kind);
        return it == report.losses.end() ? 0 : it->count;
    }

    std::vector<std::string> namesIn(const std::string& folder) const
    {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(path(folder)))
            names.push_back(entry.path().filename().string());
        std::ranges::sort(names);
        return names;
    }
    /// An import that is killed as soon as it has written 16 KiB.
    void importKilled(const std::string& input, const std::string& output) const
    {
        const pid_t child = ::fork();
        if (child == 0) {
            std::signal(SIGXFSZ, [](int) { ::kill(::getpid(), SIGKILL); });
            const rlimit limit{ 16384, 16384 };
            ::setrlimit(RLIMIT_FSIZE, &limit);
            static_cast<void>(importTraces({ input }, output));
            ::_exit(0);
        }
        int how = 0;
        ASSERT_EQ(::waitpid(child, &how, 0), child);
        ASSERT_TRUE(WIFSIGNALED(how));
        ASSERT_EQ(WTERMSIG(how), SIGKILL);
    }

    support::TemporaryDirectory folder_;
};

} // namespace

TEST_F(Files, CyclesOfARankBecomeWindowsOfThatRank)
{
    // Written by PyTorch's handler: host_pid.time_ns; neither file says its rank.
    write("job/node1_77.1700000000000000000.pt.trace.json", trace(1000, "", 3));
    write("job/node1_77.1700000060000000000.pt.trace.json", trace(61000, "", 9));
    write("job/node1_78.1700000000000000000.pt.trace.json", trace(1000, "", 3));
    import({ path("job") });
    auto reader = std::move(*TraceReader::open(out()));
    ASSERT_EQ(reader.ranks()->size(), 2u);
    const auto steps = *reader.steps();
    ASSERT_EQ(steps.size(), 3u);
    EXPECT_EQ(steps[0].step, 3);
    EXPECT_EQ(steps[1].step, 9);
    EXPECT_EQ(steps[1].beginNs, 60'000'000); // 61000 - 1000 us
    EXPECT_EQ(reader.counts()->at("kernel"), 3);
    EXPECT_EQ(reader.provenance()->at("file.0.windows"), "2");
}

TEST_F(Files, IterationFoldersAreCyclesToo)
{
    for (int rank = 0; rank < 2; ++rank) {
        write("t/iteration_1/rank" + std::to_string(rank) + "_trace.json", trace(1000, "", 1));
        write("t/iteration_2/rank" + std::to_string(rank) + "_trace.json", trace(9000, "", 2));
    }
    const ImportReport report = import({ path("t") });
    EXPECT_EQ(report.ranks, 2);
    auto reader = std::move(*TraceReader::open(out()));
    EXPECT_EQ(reader.steps()->size(), 4u);
    EXPECT_EQ(reader.counts()->at("kernel"), 4);
}

TEST_F(Files, SeveralJobsInAFolderAreNamedAndAskedFor)
{
    write("runs/monday/rank0.json", trace(1000, "0"));
    write("runs/monday/rank1.json", trace(1000, "1"));
    write("runs/tuesday/rank0.json", trace(900000, "0"));
    const auto refused = importTraces({ path("runs") }, out());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find(
                  "2 jobs: " + path("runs/monday") + " (2 ranks), " + path("runs/tuesday") + " (1 rank)"),
        std::string::npos)
        << refused.error().message();
    EXPECT_FALSE(fs::exists(out()));
    EXPECT_EQ(import({ path("runs/monday") }).ranks, 2);
}

TEST_F(Files, FilesOfManyRanksAreJobsOfTheirOwn)
{
    const std::string rows = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mb_id\n"
                             "0,0,0,1,optimizer,0,1,0,-1\n0,1,1,1,optimizer,0,1,0,-1\n";
    const std::string a = write("jobs/A.csv", rows), b = write("jobs/B.csv", rows);
    const auto refused = importTraces({ path("jobs") }, out());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("2 jobs: " + a + " (2 ranks), " + b + " (2 ranks)"), std::string::npos)
        << refused.error().message();
}

TEST_F(Files, OneJobMayLieInAFolderPerRankWithForeignFilesBeside)
{
    write("job/rank0/trace.json", trace(1000, "0"));
    write("job/rank1/trace.json", trace(1000, "1"));
    write("job/rank1/stderr.log", "nothing to see");
    write("job/config.json", R"({"lr": 0.1})");
    const ImportReport report = import({ path("job") });
    EXPECT_EQ(report.ranks, 2);
    EXPECT_EQ(std::ranges::count_if(report.files, [](const ImportedFile& f) { return !f.leftOut.empty(); }), 2);
}

TEST_F(Files, ARankThatEveryFileClaimsIsTakenFromTheNames)
{
    write("job/rank0.json", trace(1000, "0"));
    write("job/rank1.json", trace(1000, "0"));
    const ImportReport report = import({ path("job") });
    EXPECT_EQ(report.ranks, 2);
    EXPECT_EQ(lossCount(report, "wrong rank in the file"), 1);
    EXPECT_EQ(lossCount(report, "rank differs from the file's name"), 0);
}

TEST_F(Files, AFileThatContradictsItsNameIsBelievedAndSaysSo)
{
    write("job/rank0.json", trace(1000, "1"));
    const ImportReport report = import({ path("job") });
    EXPECT_EQ(report.files[0].rank, 1);
    EXPECT_EQ(lossCount(report, "rank differs from the file's name"), 1);
}

TEST_F(Files, AbsentRanksAreCountedAndNamed)
{
    write("job/rank0.json", trace(1000, "0", 0, 8));
    write("job/rank5.json", trace(1000, "5", 0, 8));
    const ImportReport report = import({ path("job") });
    EXPECT_EQ(lossCount(report, "rank absent"), 6);
    const auto loss = std::ranges::find(report.losses, "rank absent", &Loss::kind);
    EXPECT_NE(loss->detail.find("1-4, 6-7"), std::string::npos) << loss->detail;
}

TEST_F(Files, ARankBeyondTheWorldIsKeptAndSaysSo)
{
    const ImportReport report = import({ write("rank9.json", trace(1000, "9", 0, 8)) });
    EXPECT_EQ(report.ranks, 1);
    EXPECT_EQ(lossCount(report, "rank beyond the world size"), 1);
}

TEST_F(Files, NamesTellRankProcessCycleAndJob)
{
    const NameFacts profiler = nameFacts("/a/job/gpu-host.local_4711.1700000000123456789.pt.trace.json.gz");
    EXPECT_EQ(profiler.process, "gpu-host.local_4711");
    EXPECT_EQ(profiler.cycle, 1700000000123456789);
    EXPECT_EQ(profiler.rank, std::nullopt);
    EXPECT_EQ(profiler.jobFolder, "/a/job");
    const NameFacts nested = nameFacts("/a/job/node2/rank_12/iteration-40/trace.json");
    EXPECT_EQ(nested.rank, 12);
    EXPECT_EQ(nested.cycle, 40);
    EXPECT_EQ(nested.jobFolder, "/a/job");
    EXPECT_EQ(nameFacts("torchrec_straggler_4rank/a.json").rank, std::nullopt);
    EXPECT_EQ(asStretches({ 2, 3, 4, 7, 9, 10 }), "2-4, 7, 9-10");
}

TEST_F(Files, TheCacheKeepsAnImportUntilTheSourceChanges)
{
    const support::EnvironmentVariable cache("XDG_CACHE_HOME", path("cache"));
    const std::string file = write("job/rank0.json", trace(1000, "0"));
    const auto first = importCached({ path("job") });
    ASSERT_TRUE(first) << first.error().message();
    EXPECT_TRUE(first->imported);
    EXPECT_TRUE(first->path.starts_with(path("cache") + "/rankscope/imports/job-")) << first->path;
    const auto again = importCached({ path("job") });
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->imported);
    EXPECT_EQ(again->path, first->path);
    write("job/rank1.json", trace(1000, "1"));
    const auto changed = importCached({ path("job") });
    ASSERT_TRUE(changed);
    EXPECT_TRUE(changed->imported);
    EXPECT_NE(changed->path, first->path);
    EXPECT_FALSE(fs::exists(first->path)); // an older state of the same folder
    const auto run = importCached({ changed->path });
    ASSERT_TRUE(run);
    EXPECT_EQ(run->path, changed->path); // a run file is opened where it is
    EXPECT_EQ(
        std::distance(fs::directory_iterator(path("job")), fs::directory_iterator()), 2); // nothing beside the source
}

TEST_F(Files, TheCacheGivesUpWhatWasNotUsedForLongest)
{
    const support::EnvironmentVariable cache("XDG_CACHE_HOME", path("cache"));
    std::vector<std::string> runs;
    for (int i = 0; i < 3; ++i) {
        const auto run = importCached({ write("job" + std::to_string(i) + "/rank0.json", trace(1000, "0")) });
        ASSERT_TRUE(run) << run.error().message();
        runs.push_back(run->path);
    }
    const auto hoursAgo = [](int hours) { return fs::file_time_type::clock::now() - std::chrono::hours(hours); };
    fs::last_write_time(runs[0], hoursAgo(3));
    fs::last_write_time(runs[1], hoursAgo(2));
    fs::last_write_time(runs[2], hoursAgo(1));
    ASSERT_FALSE(importCached({ path("job0/rank0.json") })->imported); // used again
    // Room for the next one and two of those that are there.
    const double gib = 3.5 * static_cast<double>(fs::file_size(runs[0])) / (1u << 30);
    const support::EnvironmentVariable limit("RANKSCOPE_CACHE_GIB", std::to_string(gib));
    ASSERT_TRUE(importCached({ write("job3/rank0.json", trace(1000, "0")) }));
    EXPECT_TRUE(fs::exists(runs[0]));
    EXPECT_FALSE(fs::exists(runs[1]));
    EXPECT_TRUE(fs::exists(runs[2]));
}

TEST_F(Files, WhatAKilledImportLeavesGoesWithTheNextIntoThatName)
{
    const std::string input = write("job/rank0.json", trace(1000, "0"));
    fs::create_directories(path("runs"));
    importKilled(input, path("runs/a.rsdb"));
    const auto left = namesIn("runs");
    ASSERT_FALSE(left.empty());
    for (const std::string& name : left)
        EXPECT_NE(name.find(".importing"), std::string::npos) << name; // nothing under the final name
    ASSERT_TRUE(importTraces({ input }, path("runs/other.rsdb")));
    EXPECT_EQ(namesIn("runs").size(), left.size() + 1); // not its own
    ASSERT_TRUE(importTraces({ input }, path("runs/a.rsdb")));
    EXPECT_EQ(namesIn("runs"), (std::vector<std::string>{ "a.rsdb", "other.rsdb" }));
    importKilled(path("runs/a.rsdb"), path("runs/b.rsdb")); // run files are merged
    EXPECT_GT(namesIn("runs").size(), 2u);
    ASSERT_TRUE(importTraces({ path("runs/a.rsdb") }, path("runs/b.rsdb")));
    EXPECT_EQ(namesIn("runs"), (std::vector<std::string>{ "a.rsdb", "b.rsdb", "other.rsdb" }));
}

TEST_F(Files, WhatAKilledImportLeavesInTheCacheGoesWithTheNextOfAnyTrace)
{
    const support::EnvironmentVariable cache("XDG_CACHE_HOME", path("cache"));
    fs::create_directories(path("cache/rankscope/imports"));
    importKilled(write("job/rank0.json", trace(1000, "0")), path("cache/rankscope/imports/job-1-2.rsdb"));
    ASSERT_FALSE(namesIn("cache/rankscope/imports").empty());
    ASSERT_TRUE(importCached({ write("other/rank0.json", trace(1000, "0")) }));
    EXPECT_EQ(namesIn("cache/rankscope/imports").size(), 1u);
}

TEST_F(Files, AFileThatIsStillBeingWrittenStays)
{
    const std::string input = write("job/rank0.json", trace(1000, "0"));
    std::string path;
    {
        const auto partial = PartialFile::create(out());
        ASSERT_TRUE(partial) << partial.error().message();
        path = partial->path();
        std::ofstream(path) << "half";
        import({ input });
        EXPECT_EQ(support::readText(path), "half");
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST_F(Files, AnotherMachinesFileGoesAfterADayUnlessItIsLocked)
{
    const std::string partial = write("out.rsdb.00000000-AbCdEf.importing", "half");
    const std::string lockFile = write("out.rsdb.00000000-AbCdEf.importing-lock", "");
    const std::string input = write("job/rank0.json", trace(1000, "0"));
    import({ input });
    EXPECT_TRUE(fs::exists(partial));
    const auto dayBefore = fs::file_time_type::clock::now() - std::chrono::hours(25);
    for (const std::string& file : { partial, lockFile })
        fs::last_write_time(file, dayBefore);
    const int lock = ::open(lockFile.c_str(), O_RDWR);
    ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
    import({ input });
    EXPECT_TRUE(fs::exists(partial));
    ::close(lock);
    import({ input });
    EXPECT_FALSE(fs::exists(partial));
    EXPECT_FALSE(fs::exists(lockFile));
}

} // namespace rankscope::tracing
