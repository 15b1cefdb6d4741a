#include "tests/support/sql.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/trace_builder.h"
#include "tests/tracing/cli/rankscope_program.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kMs = 1'000'000;

class Commands : public testing::Test {
protected:
    /// Two steps of 100 ms on two ranks. Rank 0 computes 60 ms a step and enters an all-reduce at 60 ms; rank 1
    /// computes 80 ms and enters then; both leave at 90 ms. So rank 0 waits 20 ms, both transfer 10 ms, 10 ms are idle.
    std::string sample(const char* name = "sample.rsdb")
    {
        const std::filesystem::path file = directory_ / name;
        support::TraceBuilder trace(file, 2);
        for (int step = 0; step < 2; ++step) {
            const std::int64_t t = step * 100 * kMs;
            for (int rank = 0; rank < 2; ++rank)
                trace.step(rank, step, { t, t + 100 * kMs });
            trace.kernel(0, { t, t + 60 * kMs }, "matmul");
            trace.kernel(1, { t, t + 80 * kMs }, "matmul");
            trace.collective(CollectiveOp::AllReduce, Dimension::Data, 1'000'000,
                { { t + 60 * kMs, t + 90 * kMs }, { t + 80 * kMs, t + 90 * kMs } });
        }
        trace.finish();
        return file.string();
    }

    static rapidjson::Document json(const std::vector<std::string>& arguments)
    {
        const auto outcome = runRankscope(arguments);
        EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
        rapidjson::Document document;
        document.Parse(outcome.output.c_str());
        EXPECT_FALSE(document.HasParseError()) << outcome.output;
        return document;
    }

    static void expectRefusal(const std::vector<std::string>& arguments, int exitCode, const std::string& part)
    {
        const auto outcome = runRankscope(arguments);
        EXPECT_EQ(outcome.exitCode, exitCode) << outcome.error;
        EXPECT_EQ(linesIn(outcome.error), 1U) << outcome.error;
        EXPECT_TRUE(outcome.error.starts_with("rankscope: ")) << outcome.error;
        EXPECT_NE(outcome.error.find(part), std::string::npos) << outcome.error;
        EXPECT_EQ(outcome.output, "");
    }

    support::TemporaryDirectory directory_;
};

} // namespace

TEST_F(Commands, ReportAsJsonCountsWhatTheFileHolds)
{
    const auto report = json({ "report", sample(), "--json" });
    EXPECT_EQ(report["schema"].GetInt(), 1);
    const auto& rank = report["ranks"][0];
    EXPECT_EQ(rank["window_ns"].GetInt64(), 200 * kMs);
    EXPECT_EQ(rank["compute_ns"].GetInt64(), 120 * kMs);
    EXPECT_EQ(rank["communication_ns"].GetInt64(), 60 * kMs);
    EXPECT_EQ(rank["exposed_communication_ns"].GetInt64(), 60 * kMs);
    EXPECT_EQ(rank["overlap_ns"].GetInt64(), 0);
    EXPECT_EQ(rank["idle_ns"].GetInt64(), 20 * kMs);
    EXPECT_EQ(rank["split_ns"]["wait.dp"].GetInt64(), 40 * kMs);
    EXPECT_EQ(rank["split_ns"]["transfer.dp"].GetInt64(), 20 * kMs);
    const auto& collective = report["collectives"][0];
    EXPECT_EQ(collective["op"], "all-reduce");
    EXPECT_EQ(collective["dimension"], "dp");
    EXPECT_EQ(collective["count"].GetInt(), 2);
    EXPECT_EQ(collective["late_rank"].GetInt(), 1);
    // 1 MB in 10 ms of wire time; two ranks: factor 1.
    EXPECT_DOUBLE_EQ(collective["busbw_gb_s"].GetDouble(), 0.1);
    EXPECT_EQ(report["kernels"][0]["name"], "matmul");
    EXPECT_EQ(report["kernels"][0]["total_ns"].GetInt64(), 280 * kMs);
}

TEST_F(Commands, ReportOfOneStepCountsThatStepAlone)
{
    const auto report = json({ "report", sample(), "--json", "--steps", "1:1" });
    EXPECT_EQ(report["window"]["begin_ns"].GetInt64(), 100 * kMs);
    EXPECT_EQ(report["ranks"][1]["compute_ns"].GetInt64(), 80 * kMs);
}

TEST_F(Commands, ReportOfTwoRunsShowsDifferences)
{
    const std::string a = sample("a.rsdb");
    const auto outcome = runRankscope({ "report", a, sample("b.rsdb") });
    EXPECT_EQ(outcome.exitCode, 0);
    EXPECT_NE(outcome.output.find("step time, mean"), std::string::npos) << outcome.output;
    EXPECT_EQ(json({ "report", a, a, "--json" })["schema"].GetInt(), 1);
}

TEST_F(Commands, ReportOfThreeRunsIsRefusedAsWrongUsage)
{
    const std::string run = sample();
    const auto outcome = runRankscope({ "report", run, run, run });
    EXPECT_EQ(outcome.exitCode, 2);
    EXPECT_NE(outcome.error.find("3 runs are named"), std::string::npos) << outcome.error;
}

TEST_F(Commands, BriefReportFitsInAMessage)
{
    const auto outcome = runRankscope({ "report", sample(), "--text" });
    EXPECT_EQ(outcome.exitCode, 0);
    EXPECT_LE(linesIn(outcome.output), 20U);
    EXPECT_NE(outcome.output.find("Rank 1 is late to every all-reduce in dp"), std::string::npos) << outcome.output;
}

TEST_F(Commands, HtaViewGivesItsQuantitiesInMicroseconds)
{
    // Our own recordings have no correlation ids: to HTA nothing ran on a device.
    const std::string file = sample();
    for (const char* option : { "--hta", "--hta=unrounded" }) {
        const auto report = json({ "report", option, file, "--json" });
        ASSERT_EQ(report["ranks"].Size(), 2U);
        for (const char* key : { "rank", "idle_time_us", "compute_time_us", "non_compute_time_us", "kernel_time_us",
                 "comm_comp_overlap_pct", "idle", "queue_length" })
            EXPECT_TRUE(report["ranks"][0].HasMember(key)) << key;
        EXPECT_EQ(report["ranks"][0]["kernel_time_us"].GetInt64(), 0);
    }
    expectRefusal({ "report", file, "--hta=bogus" }, 2, "bogus");
    expectRefusal({ "report", file, "--hta", "--steps", "1:1" }, 2, "--steps");
}

TEST_F(Commands, LedgerAsJsonSumsToTheCapacity)
{
    const std::string file = sample();
    const auto ledger = json({ "ledger", file, "--json" });
    EXPECT_EQ(ledger["schema"].GetInt(), 1);
    EXPECT_EQ(ledger["capacity"]["ns"].GetInt64(), 400 * kMs);
    EXPECT_TRUE(ledger["capacity"]["flop"].IsNull());
    EXPECT_EQ(ledger["residual_ns"].GetInt64(), 0);
    std::int64_t sum = 0;
    for (const auto& leaf : ledger["leaves"].GetArray()) {
        for (const char* key : { "leaf", "rank", "step", "attempt", "state", "ns", "flop", "low_ns", "high_ns",
                 "culprit", "culprits", "cause" })
            EXPECT_TRUE(leaf.HasMember(key)) << key;
        sum += leaf["ns"].GetInt64();
    }
    EXPECT_EQ(sum, 400 * kMs);
    std::int64_t waited = 0;
    for (const auto& total : ledger["totals"].GetArray()) {
        for (const char* key : { "leaf", "ns", "flop", "share", "low_share", "high_share", "saving_share" })
            EXPECT_TRUE(total.HasMember(key)) << key;
        if (total["leaf"] == "wait.dp")
            waited = total["ns"].GetInt64();
    }
    EXPECT_EQ(waited, 40 * kMs);
    EXPECT_EQ(json({ "ledger", file, "--json", "--steps", "1" })["capacity"]["ns"].GetInt64(), 200 * kMs);
    // By rank alone: one sum each.
    const auto byRank = json({ "ledger", file, "--json", "--by", "rank" });
    ASSERT_EQ(byRank["leaves"].Size(), 2U);
    EXPECT_EQ(byRank["leaves"][1]["ns"].GetInt64(), 200 * kMs);
}

TEST_F(Commands, LedgerAsTextNamesLeavesCulpritsAndTheSum)
{
    const auto outcome = runRankscope({ "ledger", sample() });
    EXPECT_EQ(outcome.exitCode, 0);
    for (const char* part : { "wait.dp", "rank 1: compute", "residual 0 ns", "100.0 %" })
        EXPECT_NE(outcome.output.find(part), std::string::npos) << outcome.output;
    EXPECT_EQ(runRankscope({ "ledger", sample("b.rsdb"), "--by", "rank,step" }).exitCode, 0);
    expectRefusal({ "ledger", sample("c.rsdb"), "--by", "colour" }, 2, "colour");
    expectRefusal({ "ledger", sample("d.rsdb"), "--steps", "90:95" }, 2, "steps 0 to 1");
}

TEST_F(Commands, WhatIfGivesItsKeys)
{
    const std::string file = sample();
    const auto prediction = json({ "what-if", file, "fix=1", "--json" });
    for (const char* key : { "baseline_step_ns", "predicted_step_ns", "low_ns", "high_ns", "changes" })
        EXPECT_TRUE(prediction.HasMember(key)) << key;
    EXPECT_EQ(prediction["baseline_step_ns"].GetInt64(), 100 * kMs);
    EXPECT_EQ(prediction["predicted_step_ns"].GetInt64(), 80 * kMs);
    EXPECT_EQ(prediction["changes"][0], "fix=1");
    const auto text = runRankscope({ "what-if", file, "fix=1" });
    EXPECT_NE(text.output.find("a step takes 80.0 ms instead of 100 ms"), std::string::npos) << text.output;
    expectRefusal({ "what-if", file, "faster" }, 2, "faster");
    expectRefusal({ "what-if", file }, 2, "what-if --help");
    expectRefusal({ "what-if", file, "--published" }, 3, "published rules");
}

TEST_F(Commands, InfoTellsRanksCountsAndWindow)
{
    const auto info = json({ "info", sample(), "--json" });
    EXPECT_EQ(info["run"]["world_size"].GetInt(), 2);
    EXPECT_EQ(info["ranks"].Size(), 2U);
    EXPECT_EQ(info["counts"]["kernel"].GetInt(), 4);
    EXPECT_EQ(info["window_ns"].GetInt64(), 200 * kMs);
    EXPECT_EQ(runRankscope({ "info", sample("text.rsdb") }).exitCode, 0);
}

TEST_F(Commands, InfoPrintsTheSchemaWithItsComments)
{
    const auto outcome = runRankscope({ "info", "--schema" });
    EXPECT_EQ(outcome.exitCode, 0);
    EXPECT_NE(outcome.output.find("CREATE TABLE kernel"), std::string::npos);
    EXPECT_NE(outcome.output.find("-- "), std::string::npos);
}

TEST_F(Commands, SqlGivesCsvJsonAndATable)
{
    const std::string file = sample();
    const std::string query = "SELECT 'a,\"b\"' AS x, NULL AS y";
    EXPECT_EQ(runRankscope({ "sql", file, query, "--csv" }).output, "x,y\n\"a,\"\"b\"\"\",\n");
    EXPECT_EQ(runRankscope({ "sql", file, query }).output, "x      y\na,\"b\"  -\n");
    const auto document = json({ "sql", file, query, "--json" });
    EXPECT_EQ(document["columns"][1], "y");
    EXPECT_TRUE(document["rows"][0][1].IsNull());
    const auto numbers = json({ "sql", file, "SELECT count(*), 0.5, '7' FROM rank", "--json" });
    EXPECT_EQ(numbers["rows"][0][0].GetInt64(), 2);
    EXPECT_EQ(numbers["rows"][0][1].GetDouble(), 0.5);
    EXPECT_STREQ(numbers["rows"][0][2].GetString(), "7");
}

TEST_F(Commands, SqlHandsOutRowsOfAnEndlessQueryAsTheyCome)
{
    const std::string query = "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT x FROM a";
    const std::string file = sample();
    for (const std::string form : { "--csv", "--json", "" }) {
        const std::string shell
            = std::string(RS_PROGRAM) + " sql " + file + " '" + query + "' " + form + " | head -n 2000 | wc -l";
        const auto outcome = support::run({ { "/bin/sh", "-c", shell } });
        EXPECT_EQ(std::stoi(outcome.output), 2000) << form << outcome.error;
    }
}

TEST_F(Commands, SqlStopsAfterTheRowsAskedForAndOnATerminalAfterAThousand)
{
    const std::string file = sample();
    const std::string query
        = "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a LIMIT 1500) SELECT x FROM a";
    const auto some = runRankscope({ "sql", file, query, "--csv", "--rows", "2" });
    EXPECT_EQ(some.output, "x\n1\n2\n");
    EXPECT_NE(some.error.find("the first 2 rows; --rows 0 gives all"), std::string::npos) << some.error;
    EXPECT_EQ(runRankscope({ "sql", file, "SELECT 1 AS x", "--csv", "--rows", "1" }).error, "");
    // script gives its child a terminal.
    if (support::run({ { "script", "--version" } }).exitCode != 0)
        GTEST_SKIP() << "no script (util-linux) to make a terminal";
    const auto linesOnATerminal = [&](const std::string& more) {
        const std::string call = std::string(RS_PROGRAM) + " sql " + file + " '" + query + "' --csv" + more;
        const auto outcome = support::run({ { "script", "-qec", call, "/dev/null" } });
        return std::ranges::count(outcome.output, '\n');
    };
    EXPECT_EQ(linesOnATerminal(""), 1 + 1000 + 1); // header and note
    EXPECT_EQ(linesOnATerminal(" --rows 0"), 1 + 1500);
}

TEST_F(Commands, OutputThatCannotBeWrittenIsAnError)
{
    const std::string file = sample();
    for (const std::string arguments : { "report ", "report --text ", "info ", "ledger --json " }) {
        const auto outcome
            = support::run({ { "/bin/sh", "-c", std::string(RS_PROGRAM) + " " + arguments + file + " >/dev/full" } });
        EXPECT_EQ(outcome.exitCode, 4) << arguments;
        EXPECT_EQ(outcome.error, "rankscope: write to standard output: No space left on device\n");
    }
}

TEST_F(Commands, SqlOnlyReads)
{
    const std::string file = sample();
    expectRefusal({ "sql", file, "DELETE FROM kernel" }, 2, "sql");
    expectRefusal({ "sql", file, "SELEKT 1" }, 2, "SELEKT");
}

TEST_F(Commands, WrongUsageIsOneLineAndTwo)
{
    expectRefusal({}, 2, "--help");
    expectRefusal({ "frobnicate" }, 2, "unknown command frobnicate; expected one of train, ");
    expectRefusal({ "frobnicate" }, 2, "ledger");
    expectRefusal({ "report" }, 2, "rankscope report --help");
    expectRefusal({ "report", "--bogus", "x" }, 2, "--bogus");
    expectRefusal({ "report", sample(), "--steps", "7:3" }, 2, "7:3");
    expectRefusal({ "report", sample("b.rsdb"), "--steps", "90:95" }, 2, "steps 0 to 1");
    expectRefusal({ "collect", "--out", "x.rsdb" }, 2, "--session");
}

TEST_F(Commands, InputThatCannotBeReadIsThree)
{
    const std::string missing = (directory_ / "missing.rsdb").string();
    const std::string text
        = directory_.write("text.rsdb", "this is no database, and long enough to be looked at\n").string();
    for (const char* command : { "info", "report", "ledger" }) {
        expectRefusal({ command, missing }, 3, "missing.rsdb");
        expectRefusal({ command, text }, 3, "text.rsdb");
        expectRefusal({ command, directory_.path().string() }, 3, directory_.path().string());
    }
    expectRefusal({ "sql", missing, "SELECT 1" }, 3, "missing.rsdb");
    expectRefusal({ "open", missing }, 3, "missing.rsdb");
}

TEST_F(Commands, ADamagedFileIsAnInputThatCannotBeRead)
{
    // Whole in its first pages, so that it opens; what comes after them is gone bad.
    const std::string file = sample();
    std::string bytes = support::readText(file);
    ASSERT_GT(bytes.size(), 3 * 4096U);
    std::fill(bytes.begin() + 4096, bytes.end(), '\x5a');
    directory_.write("sample.rsdb", bytes);
    const std::string query = "SELECT count(*) FROM kernel";
    EXPECT_EQ(runRankscope({ "sql", file, query }).exitCode, 3) << runRankscope({ "sql", file, query }).error;
    for (const std::vector<std::string>& words :
        { std::vector<std::string>{ "report", file, "--steps", "1:1" }, { "report", file },
            { "ledger", file, "--steps", "1:1" }, { "what-if", file, "fix=1" }, { "info", file } }) {
        const auto outcome = runRankscope(words);
        EXPECT_EQ(outcome.exitCode, 3) << words[0] << outcome.error;
        EXPECT_EQ(linesIn(outcome.error), 1U) << outcome.error;
    }
}

TEST_F(Commands, AnOutputThatCannotBeWrittenIsWrongUsageInOneLine)
{
    const auto trace = directory_.write(
        "rank0.json", R"([{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2}])");
    const std::string pipe = (directory_ / "pipe").string();
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& out : { std::string("/proc/x"), std::string("/no/such/folder/x"), pipe }) {
        expectRefusal({ "import", trace.string(), "--out", out }, 2, "--out " + out);
        expectRefusal({ "collect", "--session", directory_.path().string(), "--out", out }, 2, "--out " + out);
    }
    expectRefusal({ "import", trace.string(), "--out", directory_.path().string() }, 2, "is a folder");
}

TEST_F(Commands, PathsWithBlanksAreQuotedInCommandsToCopy)
{
    std::filesystem::create_directory(directory_ / "my runs");
    const std::string file = sample("my runs/it's.rsdb");
    const auto brief = runRankscope({ "report", file, "--text" });
    const std::string quoted = "'" + (directory_ / "my runs/it").string() + "'\\''s.rsdb'";
    EXPECT_NE(brief.output.find("\nrankscope open " + quoted + "\n"), std::string::npos) << brief.output;
}

TEST_F(Commands, LedgerSaysWhichStepsCountAndShowsTheReportsShares)
{
    // A first step of 300 ms, four of 100 ms, on one rank that computes all but 10 ms of each.
    const std::filesystem::path file = directory_ / "warm.rsdb";
    support::TraceBuilder trace(file, 1);
    std::int64_t t = 0;
    for (int step = 1; step <= 5; ++step) {
        const std::int64_t length = (step == 1 ? 300 : 100) * kMs;
        trace.step(0, step, { t, t + length }).kernel(0, { t, t + length - 10 * kMs });
        t += length;
    }
    trace.finish();
    const auto report = runRankscope({ "report", file.string() });
    EXPECT_NE(report.output.find("4 of 5 steps (2-5)"), std::string::npos) << report.output;
    EXPECT_NE(report.output.find("90.0 %"), std::string::npos) << report.output;
    const auto ledger = runRankscope({ "ledger", file.string() });
    EXPECT_NE(ledger.output.find("the whole run: steps 1-5"), std::string::npos) << ledger.output;
    // 650 of 700 ms in all, 360 of 400 in the counted steps.
    EXPECT_NE(ledger.output.find("compute   92.9 %   650 ms     90.0 %"), std::string::npos) << ledger.output;
    const auto part = runRankscope({ "ledger", file.string(), "--steps", "2:5" });
    EXPECT_NE(part.output.find("in steps 2-5"), std::string::npos) << part.output;
    const auto whatIf = runRankscope({ "what-if", file.string(), "compute=1" });
    EXPECT_NE(whatIf.output.find("instead of 100 ms"), std::string::npos) << whatIf.output;
    EXPECT_NE(whatIf.output.find("no change; mean of 4 steps (2-5)"), std::string::npos) << whatIf.output;
}

TEST_F(Commands, ANewerSchemaIsRefusedByItsNumber)
{
    const std::string file = sample();
    support::sql(file, "PRAGMA user_version = 999");
    expectRefusal({ "report", file }, 3, "999");
}

TEST_F(Commands, ATruncatedFileIsRefusedAndNotReadInPart)
{
    const std::string file = sample();
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    const auto outcome = runRankscope({ "report", file });
    EXPECT_EQ(outcome.exitCode, 3) << outcome.output;
    EXPECT_EQ(linesIn(outcome.error), 1U) << outcome.error;
}

TEST_F(Commands, ExportWritesEachFormatAndSaysHowMuch)
{
    const std::string file = sample();
    const auto outcome = runRankscope({ "export", file, "--perfetto", (directory_ / "a.pftrace").string(), "--chrome",
        (directory_ / "a.json").string(), "--csv", (directory_ / "tables").string() });
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    // Two steps on two ranks, each with its range, a kernel and a part of an all-reduce.
    EXPECT_EQ(linesIn(outcome.output), 3U);
    EXPECT_NE(outcome.output.find("a.pftrace: 12 spans"), std::string::npos) << outcome.output;
    for (const char* name :
        { "a.pftrace", "a.json", "tables/spans.csv", "tables/counters.csv", "tables/ranks.csv", "tables/run.csv" })
        EXPECT_GT(std::filesystem::file_size(directory_ / name), 0U) << name;
    expectRefusal({ "export", file }, 2, "--perfetto");
    expectRefusal({ "export", file, "--chrome", file }, 2, "is the input");
    expectRefusal({ "export", file, "--chrome", "/proc/x" }, 2, "--chrome /proc/x");
    expectRefusal({ "export", file, "--csv", "/proc/x" }, 2, "--csv /proc/x");
    expectRefusal({ "export", (directory_ / "none").string(), "--chrome", "x.json" }, 3, "none");
}

TEST_F(Commands, ExportToAFullDiskSaysSoAndLeavesNothing)
{
    const std::string file = sample(), out = (directory_ / "a.json").string();
    // A limit on the size of files is met like the end of a disk: the write fails.
    const std::string shell = "trap '' XFSZ; ulimit -f 1; exec " RS_PROGRAM " export " + file + " --chrome " + out;
    const auto outcome = support::run({ { "/bin/bash", "-c", shell } });
    EXPECT_EQ(outcome.exitCode, 4) << outcome.output;
    EXPECT_EQ(outcome.error, "rankscope: export " + out + ": write " + out + ": File too large\n");
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
        files += entry.path().extension() != ".rsdb" ? 1 : 0;
    EXPECT_EQ(files, 0U);
}

TEST_F(Commands, EveryHelpShowsAnExample)
{
    EXPECT_NE(runRankscope({ "--help" }).output.find("Example:\n  rankscope "), std::string::npos);
    for (const char* command : { "train", "collect", "info", "report", "ledger", "what-if", "sql", "export", "open" }) {
        const auto outcome = runRankscope({ command, "--help" });
        EXPECT_EQ(outcome.exitCode, 0);
        EXPECT_NE(outcome.output.find(std::string("Example:\n  rankscope ") + command), std::string::npos) << command;
    }
}

TEST_F(Commands, ImportMakesARunAndSaysWhatItDid)
{
    const auto trace = directory_.write("rank3.json",
        R"([{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2}, {"ph": "X", "name": "x"})");
    const std::string out = (directory_ / "out.rsdb").string();
    const auto outcome = runRankscope({ "import", trace.string(), "--out", out });
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_NE(outcome.output.find("1 of 4 ranks, 1 event"), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("is rank 3: its name says so"), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("unterminated file"), std::string::npos) << outcome.output;
    expectRefusal({ "import", trace.string(), "--out", trace.string() }, 2, "is an input");
    expectRefusal({ "import", (directory_ / "none").string(), "--out", out }, 3, "no such file or folder");
}

TEST_F(Commands, TracesAreOpenedDirectlyThroughTheCache)
{
    const auto trace = directory_.write(
        "rank0.json", R"([{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2}])");
    const std::string cache = (directory_ / "cache").string();
    setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    const auto outcome = runRankscope({ "sql", trace.string(), "SELECT count(*) FROM kernel", "--csv" });
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_NE(outcome.output.find("\n1"), std::string::npos) << outcome.output;
    EXPECT_TRUE(std::filesystem::exists(cache + "/rankscope/imports"));
    unsetenv("XDG_CACHE_HOME");
}

TEST_F(Commands, TraceFilesOfSeveralRanksAreOneRun)
{
    const std::string cache = (directory_ / "cache").string();
    setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    std::vector<std::string> words{ "report" };
    for (int rank = 0; rank < 3; ++rank) {
        const auto file = directory_.write("rank" + std::to_string(rank) + ".json",
            R"([{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10, "dur": 5}])");
        words.push_back(file.string());
    }
    words.emplace_back("--json");
    EXPECT_EQ(json(words)["ranks"].Size(), 3u);
    unsetenv("XDG_CACHE_HOME");
}

} // namespace rankscope::tracing
