#include "tracing/import/importer.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

class Import : public testing::Test {
protected:
    void SetUp() override
    {
        std::string pattern = (fs::temp_directory_path() / "rankscope-import-test-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& text)
    {
        const fs::path path = folder_ / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path.string();
    }
    std::string out() const { return (folder_ / "run.rsdb").string(); }

    TraceReader import(const std::vector<std::string>& inputs)
    {
        auto report = importTraces(inputs, out());
        if (!report)
            ADD_FAILURE() << report.error().message();
        else
            report_ = *report;
        auto reader = TraceReader::open(out());
        if (!reader)
            ADD_FAILURE() << reader.error().message();
        return std::move(*reader);
    }
    std::int64_t lossCount(TraceReader& reader, const std::string& kind)
    {
        const auto losses = *reader.losses();
        for (const Loss& loss : losses) {
            if (loss.kind == kind)
                return loss.count;
        }
        return 0;
    }
    LaneId lane(TraceReader& reader, LaneKind kind)
    {
        const auto lanes = *reader.lanes();
        for (const Lane& lane : lanes) {
            if (lane.kind == kind)
                return lane.id;
        }
        ADD_FAILURE() << "no such lane";
        return {};
    }

    fs::path folder_;
    ImportReport report_;
    static constexpr Window kAll{ INT64_MIN / 4, INT64_MAX / 4 };
};

std::string traces(const std::string& name)
{
    const char* folder = std::getenv("RANKSCOPE_TRACES");
    return (fs::path(folder ? folder : "../shared/traces") / name).string();
}

} // namespace

TEST_F(Import, AKernelItsLaunchAndItsStepArriveWithExactTimes)
{
    auto reader = import({ write("rank3.json", R"({"schemaVersion": 1,
        "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}, "traceEvents": [
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1000.500, "dur": 2.250, "args": {"correlation": 5}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 990, "dur": 4, "args": {"correlation": 5}},
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 9, "tid": 9, "ts": 980, "dur": 100, "args": {}}],
        "baseTimeNanoseconds": 1711964646000000000})") });
    EXPECT_EQ(reader.run()->worldSize, 8);
    EXPECT_EQ(reader.ranks()->at(0).rank, 3);
    EXPECT_EQ(reader.run()->originUtcNs, 1711964646000980000);
    const auto kernels = *reader.kernels(lane(reader, LaneKind::Compute), kAll);
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].beginNs, 20500); // 1000.5 - 980 us
    EXPECT_EQ(kernels[0].endNs, 22750);
    EXPECT_EQ(kernels[0].correlation, 5);
    const auto steps = *reader.steps();
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].step, 4);
    EXPECT_EQ(steps[0].endNs, 100000);
}

TEST_F(Import, BeginAndEndEventsNestAndOpenOnesAreCounted)
{
    auto reader = import({ write("a.json", R"([{"ph":"B","pid":1,"tid":2,"ts":0,"name":"outer"},
        {"ph":"B","pid":1,"tid":2,"ts":10,"name":"inner"}, {"ph":"E","pid":1,"tid":2,"ts":30,"name":"inner"},
        {"ph":"E","pid":1,"tid":2,"ts":50,"name":"outer"}, {"ph":"E","pid":1,"tid":2,"ts":60,"name":"stray"},
        {"ph":"B","pid":1,"tid":2,"ts":70,"name":"open"}])") });
    const auto ranges = *reader.ranges(lane(reader, LaneKind::Host), kAll);
    ASSERT_EQ(ranges.size(), 3u);
    EXPECT_EQ(ranges[0].endNs, 50000);
    EXPECT_EQ(ranges[1].beginNs, 10000);
    EXPECT_EQ(ranges[1].depth, 1);
    EXPECT_EQ(lossCount(reader, "end without a begin"), 1);
    EXPECT_EQ(lossCount(reader, "span without an end"), 1);
}

TEST_F(Import, EveryPhaseOfAChromeTraceIsRead)
{
    auto reader = import({ write("a.json", R"([{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"worker"}},
        {"ph":"X","pid":1,"tid":2,"ts":0,"dur":9,"name":"whole"}, {"ph":"i","pid":1,"tid":2,"ts":3,"s":"t","name":"now"},
        {"ph":"C","pid":1,"ts":1,"name":"memory","args":{"used":5,"free":2.5}},
        {"ph":"C","pid":1,"ts":4,"name":"memory","args":{"used":7,"free":0.5}},
        {"ph":"s","pid":1,"tid":2,"ts":1,"id":1,"name":"f","cat":"f"}, {"ph":"f","pid":1,"tid":2,"ts":2,"id":1,"name":"f","cat":"f"},
        {"ph":"b","pid":1,"tid":2,"ts":1,"id":"0x1","cat":"io","name":"read"},
        {"ph":"b","pid":1,"tid":2,"ts":2,"id":"0x2","cat":"io","name":"read"},
        {"ph":"n","pid":1,"tid":2,"ts":3,"id":"0x1","cat":"io","name":"half"},
        {"ph":"e","pid":1,"tid":2,"ts":6,"id":"0x1","cat":"io","name":"read"},
        {"ph":"e","pid":1,"tid":2,"ts":5,"id":"0x2","cat":"io","name":"read"},
        {"ph":"O","pid":1,"tid":2,"ts":5,"name":"object"}])") });
    std::map<std::string, std::vector<Window>> ranges;
    std::map<std::string, std::vector<double>> samples;
    const auto lanes = *reader.lanes();
    for (const Lane& lane : lanes) {
        const auto rows = *reader.ranges(lane.id, kAll);
        for (const Range& range : rows)
            ranges[lane.name].push_back({ range.beginNs, range.endNs });
        const auto values = *reader.counters(lane.id, kAll);
        for (const CounterSample& sample : values)
            samples[lane.name].push_back(sample.value);
    }
    EXPECT_EQ(ranges["worker"], (std::vector<Window>{ { 0, 9000 }, { 3000, 3000 } }));
    EXPECT_EQ(ranges["async worker"], (std::vector<Window>{ { 1000, 6000 }, { 2000, 5000 }, { 3000, 3000 } }));
    EXPECT_EQ(samples["memory used"], (std::vector<double>{ 5, 7 }));
    EXPECT_EQ(samples["memory free"], (std::vector<double>{ 2.5, 0.5 }));
    EXPECT_EQ(lossCount(reader, "phase O that is not read"), 1);
}

TEST_F(Import, KernelsOfOtherDevicesAreKernels)
{
    std::string text = "[";
    for (const char* category : { "kernel", "Kernel", "hpu_op", "mtia_ccp_events" })
        text += std::string(R"({"ph":"X","cat":")") + category + R"(","name":"gemm","pid":0,"tid":7,"ts":1,"dur":2},)";
    for (const char* category : { "cuda_runtime", "xpu_runtime", "privateuse1_driver", "mtia_runtime" })
        text
            += std::string(R"({"ph":"X","cat":")") + category + R"(","name":"launch","pid":9,"tid":9,"ts":1,"dur":2},)";
    auto reader = import({ write("a.json", text + "]") });
    EXPECT_EQ(reader.kernels(lane(reader, LaneKind::Compute), kAll)->size(), 4u);
    EXPECT_EQ(reader.hostCalls(lane(reader, LaneKind::Host), kAll)->size(), 4u);
}

TEST_F(Import, AnInterruptedImportLeavesNothingAndTheOlderRunAsItWas)
{
    std::string text = R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2})";
    const std::string file = write("rank0.json", text + "]");
    ImportOptions options;
    for (const bool whileWriting : { false, true }) {
        write("run.rsdb", "older");
        options.progress = [&](const ImportProgress& progress) { return whileWriting && !progress.writing; };
        const auto report = importTraces({ file }, out(), options);
        ASSERT_FALSE(report);
        EXPECT_EQ(report.error().message(), "import: cancelled");
        std::string content;
        std::ifstream(out()) >> content;
        EXPECT_EQ(content, "older");
        EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2) << "trace and run only";
    }
}

TEST_F(Import, DamagedEventsAreRepairedOrCountedAndTheRestIsKept)
{
    const std::string control = "line\nbreak";
    auto reader = import(
        { write("rank0.json", R"([{"ph":"X","cat":"kernel","name":")" + control + R"(","pid":0,"tid":7,"ts":1,"dur":1},
        {"ph":"X","cat":"kernel","name":"bad \x escape","pid":0,"tid":7,"ts":5,"dur":1},
        {"ph":"X","cat":"kernel","name":"nan","pid":0,"tid":7,"ts":NaN,"dur":1},
        {"ph":"X","cat":"kernel","name":"back","pid":0,"tid":7,"ts":9,"dur":-4},
        {"ph":"X","cat":"kernel","name":"good","pid":0,"tid":7,"ts":20,"dur":1})") });
    EXPECT_EQ(reader.kernels(lane(reader, LaneKind::Compute), kAll)->size(), 4u);
    EXPECT_EQ(lossCount(reader, "repaired event"), 2);
    EXPECT_EQ(lossCount(reader, "time that is no number"), 1);
    EXPECT_EQ(lossCount(reader, "negative duration"), 1);
    EXPECT_EQ(lossCount(reader, "unterminated file"), 1);
}

TEST_F(Import, ATimeADayOffIsLeftOutAndCounted)
{
    std::string text = "[";
    for (int i = 0; i < 20; ++i)
        text += R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)"
            + std::to_string(1698955060000000 + i * 10) + R"(,"dur":5},)";
    text += R"({"ph":"X","cat":"kernel","name":"zero","pid":0,"tid":7,"ts":0,"dur":1},
        {"ph":"X","cat":"kernel","name":"late","pid":0,"tid":7,"ts":1699055060000000,"dur":1}])"; // 1e14 ns later
    auto reader = import({ write("rank0.json", text) });
    EXPECT_EQ(lossCount(reader, "time far from all others"), 2);
    EXPECT_EQ(reader.window()->endNs, 195000);
}

TEST_F(Import, TilesOfALongLaneAreWholeAlthoughTheyAreWrittenInParts)
{
    // A span around 70,000 others, more than go into one part: it alone covers the gaps between them.
    std::string text = R"([{"ph":"X","name":"all","pid":1,"tid":1,"ts":0,"dur":70000000})";
    for (int i = 0; i < 70'000; ++i)
        text += R"(,{"ph":"X","name":"one","pid":1,"tid":1,"ts":)" + std::to_string(i * 1000) + R"(,"dur":500})";
    TraceReader reader = import({ write("t.json", text + "]") });
    const LaneId host = lane(reader, LaneKind::Host);
    for (const int level : { 0, 3, kTileLevels - 1 }) {
        std::int64_t count = 0, busyNs = 0;
        const std::vector<Tile> tiles = *reader.tiles(host, level, kAll);
        for (const Tile& tile : tiles) {
            count += tile.count;
            busyNs += tile.busyNs;
        }
        EXPECT_EQ(count, 70'001) << "level " << level;
        EXPECT_EQ(busyNs, 70'000'000'000) << "level " << level;
    }
}

TEST_F(Import, RanksComeFromNamesWhereFilesDoNotSayAndNeverOverwriteEachOther)
{
    const std::string events = R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1}])";
    write("job/rank_2.json", events);
    write("job/worker5.pt.trace.json", events);
    write("job/notes.txt", "not a trace");
    auto reader = import({ (folder_ / "job").string() });
    const auto ranks = *reader.ranks();
    ASSERT_EQ(ranks.size(), 2u);
    EXPECT_EQ(ranks[0].rank, 2);
    EXPECT_EQ(ranks[1].rank, 5);
    ASSERT_EQ(report_.files.size(), 3u);
    const auto refused = importTraces({ write("x/rank1.json", events), write("y/rank1.json", events) }, out() + "2");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("both rank 1"), std::string::npos);
    EXPECT_FALSE(fs::exists(out() + "2"));
}

TEST_F(Import, WhatIsNoTraceIsRefusedInOneLine)
{
    for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{ { "empty.json", "" },
             { "list.json", "[4, 5, 6]" }, { "text.txt", "hello" }, { "object.json", R"({"a": 1})" } }) {
        const auto report = importTraces({ write(name, text) }, out());
        ASSERT_FALSE(report) << name;
        EXPECT_EQ(report.error().message().find('\n'), std::string::npos);
        EXPECT_FALSE(fs::exists(out()));
    }
    EXPECT_FALSE(importTraces({ (folder_ / "missing.json").string() }, out()));
}

TEST_F(Import, RealStragglerJobIsPairedFromTheEndWithinATenthOfAMillisecond)
{
    if (!fs::exists(traces("torchrec_straggler_4rank")))
        GTEST_SKIP() << "no " << traces("torchrec_straggler_4rank")
                     << "; set RANKSCOPE_TRACES to the folder of real traces";
    auto reader = import({ traces("torchrec_straggler_4rank") });
    ASSERT_EQ(reader.ranks()->size(), 4u);
    int complete = 0, lateIsTwo = 0;
    const auto matches = *reader.matches(kAll);
    for (const CollectiveMatch& match : matches) {
        complete += match.partsPresent == 4 ? 1 : 0;
        lateIsTwo += match.partsPresent == 4 && match.lateRank == 2 ? 1 : 0;
    }
    EXPECT_EQ(complete, 12);
    EXPECT_EQ(lateIsTwo, 12);
    EXPECT_NE(report_.clocks.find("(12 collectives)"), std::string::npos) << report_.clocks;
    const auto ranks = *reader.ranks();
    for (const RankInfo& rank : ranks)
        EXPECT_LT(rank.clockErrorNs, 100'000);
}

TEST_F(Import, RealRcclKernelsTakeTheirOperationFromTheHostsMetadata)
{
    if (!fs::exists(traces("rccl_rank0_of_8")))
        GTEST_SKIP() << "no " << traces("rccl_rank0_of_8") << "; set RANKSCOPE_TRACES to the folder of real traces";
    auto reader = import({ traces("rccl_rank0_of_8") });
    int named = 0, unknown = 0;
    const auto matches = *reader.matches(kAll);
    for (const CollectiveMatch& match : matches)
        (match.op == CollectiveOp::Unknown ? unknown : named) += 1;
    EXPECT_EQ(named, 12);
    EXPECT_EQ(unknown, 5);
}

TEST_F(Import, RealTruncatedFileOpensAndSaysSo)
{
    if (!fs::exists(traces("unterminated_begin_end")))
        GTEST_SKIP() << "no " << traces("unterminated_begin_end")
                     << "; set RANKSCOPE_TRACES to the folder of real traces";
    auto reader = import({ traces("unterminated_begin_end") });
    EXPECT_EQ(lossCount(reader, "unterminated file"), 1);
}

} // namespace rankscope::tracing
