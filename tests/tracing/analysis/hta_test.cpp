#include "tracing/analysis/hta.h"
#include "tracing/analysis/hta_tables.h"

#include "tests/support/temporary_directory.h"
#include "tracing/analysis/load.h"
#include "tracing/import/importer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kUs = 1000;

fs::path traces(const std::string& name)
{
    const char* folder = std::getenv("RANKSCOPE_TRACES");
    return fs::path(folder ? folder : "../shared/traces") / name;
}

/// Cells of a CSV file, its header left out; quotes around a cell keep its commas.
std::vector<std::vector<std::string>> cellsOf(const fs::path& file)
{
    std::vector<std::vector<std::string>> rows;
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    while (std::getline(stream, line)) {
        std::vector<std::string> cells(1);
        bool quoted = false;
        for (const char letter : line) {
            if (letter == '"')
                quoted = !quoted;
            else if (letter == ',' && !quoted)
                cells.emplace_back();
            else
                cells.back() += letter;
        }
        rows.push_back(cells);
    }
    return rows;
}

/// Of nothing pandas writes nothing.
void expectNear(double value, const std::string& expected, double within, const std::string& what)
{
    if (expected.empty())
        EXPECT_EQ(value, 0) << what;
    else
        EXPECT_NEAR(value, std::stod(expected), within) << what;
}

/// count, mean, std, min, 25%, 50%, 75%, max, from this cell on.
void expectStatistics(const HtaStatistics& found, const std::vector<std::string>& cells, std::size_t at, double within,
    const std::string& what)
{
    EXPECT_EQ(found.count, std::llround(std::stod(cells.at(at)))) << what;
    expectNear(found.mean, cells.at(at + 1), within, what + " mean");
    EXPECT_EQ(found.deviation.has_value(), !cells.at(at + 2).empty()) << what;
    expectNear(found.deviation.value_or(0), cells.at(at + 2), within, what + " std");
    expectNear(found.min, cells.at(at + 3), within, what + " min");
    expectNear(found.q25, cells.at(at + 4), within, what + " 25%");
    expectNear(found.q50, cells.at(at + 5), within, what + " 50%");
    expectNear(found.q75, cells.at(at + 6), within, what + " 75%");
    expectNear(found.max, cells.at(at + 7), within, what + " max");
}

constexpr std::string_view kClassNames[] = { "COMMUNICATION", "MEMORY", "COMPUTATION", "OTHER" };

struct Case {
    const char* traces;
    const char* folder;
    HtaRounding rounding;
};

class HtaOfRealTraces : public testing::TestWithParam<Case> {
protected:
    void SetUp() override
    {
        const fs::path input = traces(GetParam().traces);
        expected_ = input / GetParam().folder;
        if (!fs::exists(expected_))
            GTEST_SKIP() << "no " << expected_ << "; set RANKSCOPE_TRACES to the folder of real traces";
        const std::string file = (directory_.path() / "run.rsdb").string();
        ASSERT_TRUE(importTraces({ input.string() }, file));
        auto reader = TraceReader::open(file);
        ASSERT_TRUE(reader);
        facts_ = *loadFacts(*reader);
        auto found = htaTraces(*reader, facts_, GetParam().rounding);
        ASSERT_TRUE(found);
        traces_ = std::move(*found);
    }
    const HtaTrace& ofRank(const std::string& rank) const
    {
        return *std::ranges::find(traces_, std::stoi(rank), &HtaTrace::rank);
    }

    support::TemporaryDirectory directory_;
    fs::path expected_;
    RunFacts facts_;
    std::vector<HtaTrace> traces_;
};

} // namespace

TEST(HtaClasses, FollowTheNamesAlone)
{
    EXPECT_EQ(htaClassOf("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"), HtaClass::Communication);
    EXPECT_EQ(htaClassOf("void ncclKernelX"), HtaClass::Communication); // anywhere
    EXPECT_EQ(htaClassOf("ncclDevKernel_SendRecv"), HtaClass::Communication); // at the beginning
    EXPECT_EQ(htaClassOf("hipMemcpyAsync"), HtaClass::Communication); // hip wins
    EXPECT_EQ(htaClassOf("Memcpy HtoD (Pageable -> Device)"), HtaClass::Memory);
    EXPECT_EQ(htaClassOf("volta_sgemm_128x32_nt"), HtaClass::Computation);
    EXPECT_EQ(htaClassOf("multimem_all_reduce_kernel"), HtaClass::Computation);
    EXPECT_EQ(htaClassOf("void SyncBatchNorm_kernel"), HtaClass::Other); // contains Sync
    EXPECT_EQ(htaClassOf("cudaGraphLaunchKernel"), HtaClass::Other);
    EXPECT_EQ(htaClassOf("Stream Wait Event"), HtaClass::Other);
}

TEST(HtaRow, SumsUnionsOverAllStreams)
{
    // Computation 0-10 and 5-20, communication 15-40, memory 50-60: kernel time 60, idle 10, compute 20, rest 30.
    const HtaRow row = htaRowOf({ { 0, 10 * kUs, HtaClass::Computation }, { 5 * kUs, 20 * kUs, HtaClass::Computation },
        { 15 * kUs, 40 * kUs, HtaClass::Communication }, { 50 * kUs, 60 * kUs, HtaClass::Memory } });
    EXPECT_EQ(row.kernelNs, 60 * kUs);
    EXPECT_EQ(row.idleNs, 10 * kUs);
    EXPECT_EQ(row.computeNs, 20 * kUs);
    EXPECT_EQ(row.nonComputeNs, 30 * kUs);
    EXPECT_DOUBLE_EQ(*row.overlapPercent, 20); // 5 of 25
}

TEST(HtaRow, ARowThatRoundingTurnedAroundCountsNegative)
{
    // As HTA does: 1 us is taken from what is busy.
    const HtaRow row
        = htaRowOf({ { 0, 10 * kUs, HtaClass::Computation }, { 20 * kUs, 19 * kUs, HtaClass::Computation } });
    EXPECT_EQ(row.kernelNs, 19 * kUs);
    EXPECT_EQ(row.computeNs, 9 * kUs);
    EXPECT_EQ(row.idleNs, 10 * kUs);
    EXPECT_EQ(row.overlapPercent, std::nullopt);
}

TEST(HtaRow, OfNothingIsNothing)
{
    EXPECT_EQ(htaRowOf({}).kernelNs, 0);
    EXPECT_EQ(htaRowOf({}).overlapPercent, std::nullopt);
}

TEST(HtaIdle, IsWhatCameTooLateOrAPauseBetweenKernels)
{
    // Gaps on stream 7: 10 us before a kernel launched in it; 5 us; 40 us before one launched long ago; -2 us.
    HtaTrace trace;
    trace.spans = { { 0, 10 * kUs, HtaClass::Computation, 7, 1 }, { 20 * kUs, 30 * kUs, HtaClass::Computation, 7, 2 },
        { 35 * kUs, 40 * kUs, HtaClass::Memory, 7, 3 }, { 80 * kUs, 90 * kUs, HtaClass::Computation, 7, 4 },
        { 85 * kUs, 86 * kUs, HtaClass::Other, 7 }, { 88 * kUs, 89 * kUs, HtaClass::Computation, 7, 5 },
        { 0, kUs, HtaClass::Computation, 9, 6 } };
    for (const auto& [correlation, atUs] : { std::pair(2, 12), { 3, 30 }, { 4, 13 }, { 5, 14 } })
        trace.calls.push_back({ atUs * kUs, (atUs + 1) * kUs, correlation, "cudaLaunchKernel" });
    const auto rows = htaIdleOf(trace);
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[0].category, HtaIdle::HostWait);
    EXPECT_EQ(rows[0].us.sum, 10);
    EXPECT_EQ(rows[0].share, 0.19); // of 53
    EXPECT_EQ(rows[1].category, HtaIdle::KernelWait);
    EXPECT_EQ(rows[1].us.count, 2);
    EXPECT_EQ(rows[1].us.sum, 3);
    EXPECT_EQ(rows[2].category, HtaIdle::Other);
    EXPECT_EQ(rows[2].us.sum, 40);
    EXPECT_EQ(rows[3].stream, 9); // nothing before its only kernel
    EXPECT_EQ(rows[3].us.count, 0);
}

TEST(HtaQueue, CountsWhatIsLaunchedAndHasNotBegun)
{
    // Launched at 0, 1 and 5 us, begun at 5, 6 and 9: 1, 2, 3 (the launch first), 2, 1, 0.
    HtaTrace trace;
    for (const auto& [correlation, launchUs, beginUs] :
        { std::tuple(1, 0, 5), std::tuple(2, 1, 6), std::tuple(3, 5, 9) }) {
        trace.spans.push_back({ beginUs * kUs, (beginUs + 1) * kUs, HtaClass::Computation, 7, correlation });
        trace.calls.push_back({ launchUs * kUs, (launchUs + 1) * kUs, correlation, "cudaLaunchKernel" });
    }
    const auto rows = htaQueuesOf(trace);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].length.count, 6);
    EXPECT_EQ(rows[0].length.sum, 9);
    EXPECT_EQ(rows[0].length.max, 3);
    EXPECT_EQ(rows[0].length.q50, 1.5);
    EXPECT_EQ(rows[0].openToOrder, 2); // the other way 1, 2, 1, 2, 1, 0
}

TEST_P(HtaOfRealTraces, IdleTimeOfEveryStreamIsHtas)
{
    const auto sums = cellsOf(expected_ / "idle_time_breakdown.0.csv");
    const auto intervals = cellsOf(expected_ / "idle_time_breakdown.1.csv");
    std::size_t rows = 0;
    for (const HtaTrace& trace : traces_)
        rows += htaIdleOf(trace).size();
    EXPECT_EQ(rows, sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto& cells = sums[i];
        const std::string what = "rank " + cells.at(1) + " stream " + cells.at(2) + " " + cells.at(3);
        const auto found = htaIdleOf(ofRank(cells[1]));
        const auto row = std::ranges::find_if(found,
            [&](const HtaIdleRow& r) { return r.stream == std::stoll(cells[2]) && toString(r.category) == cells[3]; });
        ASSERT_NE(row, found.end()) << what;
        EXPECT_NEAR(row->us.sum, std::stod(cells.at(4)), 0.0051) << what; // two decimals
        expectNear(row->share, cells.at(5), 1e-9, what);
        ASSERT_EQ(intervals.at(i).at(0), cells[3]);
        expectStatistics(row->us, intervals[i], 3, 0.0051, what);
    }
}

TEST_P(HtaOfRealTraces, QueueLengthsAreHtas)
{
    auto expected = cellsOf(expected_ / "queue_length_summary.csv");
    expected.erase(expected.begin(), expected.begin() + 2);
    std::size_t rows = 0;
    for (const HtaTrace& trace : traces_)
        rows += htaQueuesOf(trace).size();
    EXPECT_EQ(rows, expected.size());
    for (const auto& cells : expected) {
        const std::string what = "rank " + cells.at(0) + " stream " + cells.at(1);
        const auto found = htaQueuesOf(ofRank(cells[0]));
        const auto row = std::ranges::find(found, std::stoll(cells[1]), &HtaQueueRow::stream);
        ASSERT_NE(row, found.end()) << what;
        if (row->openToOrder == 0) {
            expectStatistics(row->length, cells, 2, 1e-9, what);
            continue;
        }
        EXPECT_EQ(row->length.count, std::llround(std::stod(cells.at(2)))) << what;
        const double less = static_cast<double>(row->openToOrder) / static_cast<double>(row->length.count);
        EXPECT_LE(std::stod(cells.at(3)), row->length.mean + 1e-9) << what;
        EXPECT_GE(std::stod(cells.at(3)), row->length.mean - less - 1e-9) << what;
    }
}

TEST_P(HtaOfRealTraces, LaunchesAreHtas)
{
    for (const HtaTrace& trace : traces_) {
        const fs::path file = expected_ / ("cuda_kernel_launch_stats.rank" + std::to_string(trace.rank) + ".csv");
        if (!fs::exists(file))
            continue; // HTA had none
        auto found = htaLaunchesOf(trace);
        auto expected = cellsOf(file);
        ASSERT_EQ(found.size(), expected.size()) << file;
        std::ranges::sort(found, {}, [](const HtaLaunch& l) { return std::pair(l.correlation, l.gpuNs); });
        std::ranges::sort(expected, {}, [](const auto& cells) {
            return std::pair(std::stoll(cells.at(1)), std::llround(1e3 * std::stod(cells.at(3))));
        });
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(found[i].correlation, std::stoll(expected[i].at(1))) << file;
            EXPECT_EQ(found[i].cpuNs, std::llround(1e3 * std::stod(expected[i].at(2)))) << expected[i][1];
            EXPECT_EQ(found[i].gpuNs, std::llround(1e3 * std::stod(expected[i].at(3)))) << expected[i][1];
            EXPECT_EQ(found[i].delayNs, std::llround(1e3 * std::stod(expected[i].at(4)))) << expected[i][1];
        }
    }
}

TEST_P(HtaOfRealTraces, KindsAndNamesOfKernelsAreHtas)
{
    const auto kinds = cellsOf(expected_ / "gpu_kernel_breakdown.0.csv");
    auto subsets = htaSubsetsOf(traces_);
    std::map<std::string, HtaSubsetRow> bySet;
    for (const HtaSubsetRow& row : subsets) {
        std::string name;
        for (const auto& [has, word] : { std::pair(row.computation, "COMPUTATION"),
                 { row.communication, "COMMUNICATION" }, { row.memory, "MEMORY" } })
            name += has ? (name.empty() ? "" : " overlapping ") + std::string(word) : "";
        bySet[name] = row;
    }
    for (const auto& cells : kinds) {
        EXPECT_NEAR(static_cast<double>(bySet[cells.at(1)].ns) / 1e3, std::stod(cells.at(2)), 1) << cells[1];
        EXPECT_NEAR(bySet[cells.at(1)].percent, std::stod(cells.at(3)), 1e-9) << cells[1];
    }
    std::map<std::pair<int, std::string>, HtaKernelRow> byName;
    for (const HtaTrace& trace : traces_) {
        for (const HtaKernelRow& row : htaKernelsOf(trace))
            byName[{ trace.rank, std::string(row.name) }] = row;
    }
    const auto names = cellsOf(expected_ / "gpu_kernel_breakdown_all.1.csv");
    for (const auto& cells : names) {
        ASSERT_TRUE(byName.contains({ std::stoi(cells.at(8)), cells.at(1) })) << cells[1];
        const HtaKernelRow& row = byName[{ std::stoi(cells[8]), cells[1] }];
        EXPECT_EQ(kClassNames[static_cast<std::size_t>(row.type)], cells.at(7)) << cells[1];
        EXPECT_NEAR(row.us.sum, std::stod(cells.at(2)), 0.0005) << cells[1];
        EXPECT_NEAR(row.us.max, std::stod(cells.at(3)), 0.0005) << cells[1];
        EXPECT_NEAR(row.us.min, std::stod(cells.at(4)), 0.0005) << cells[1];
        expectNear(row.us.deviation.value_or(0), cells.at(5), 0.0005, cells[1]);
        EXPECT_NEAR(row.us.mean, std::stod(cells.at(6)), 0.0005) << cells[1];
    }
}

TEST_P(HtaOfRealTraces, StepsAreHtas)
{
    std::set<std::int64_t> expected, found;
    std::ifstream file(expected_ / "profiler_steps.json");
    for (char letter = 0; file >> letter;) {
        std::int64_t step = 0;
        if (letter != ']' && file >> step)
            expected.insert(step);
    }
    for (const HtaTrace& trace : traces_)
        found.insert(trace.steps.begin(), trace.steps.end());
    EXPECT_EQ(found, expected);
}

TEST_P(HtaOfRealTraces, IsHtasToTheInteger)
{
    const auto found = htaBreakdown(traces_);
    const auto* rows = &found;
    const auto breakdown = cellsOf(expected_ / "temporal_breakdown.csv");
    const auto overlap = cellsOf(expected_ / "comm_comp_overlap.csv");
    ASSERT_EQ(rows->size(), breakdown.size());
    ASSERT_EQ(rows->size(), overlap.size());
    for (std::size_t i = 0; i < rows->size(); ++i) {
        const auto& cells = breakdown[i];
        EXPECT_EQ((*rows)[i].rank, std::stoi(cells.at(1)));
        EXPECT_EQ((*rows)[i].idleNs, std::llround(1e3 * std::stod(cells.at(2)))) << "rank " << cells[1];
        EXPECT_EQ((*rows)[i].computeNs, std::llround(1e3 * std::stod(cells.at(3)))) << "rank " << cells[1];
        EXPECT_EQ((*rows)[i].nonComputeNs, std::llround(1e3 * std::stod(cells.at(4)))) << "rank " << cells[1];
        EXPECT_EQ((*rows)[i].kernelNs, std::llround(1e3 * std::stod(cells.at(5)))) << "rank " << cells[1];
        const double expectedOverlap = overlap[i].at(2).empty() ? -1 : std::stod(overlap[i][2]);
        EXPECT_NEAR((*rows)[i].overlapPercent.value_or(-1), expectedOverlap, 1e-9) << "rank " << cells[1];
    }
}

INSTANTIATE_TEST_SUITE_P(Folders, HtaOfRealTraces,
    testing::Values(Case{ "dlrm_8rank", "hta", HtaRounding::AsHta },
        Case{ "torchrec_straggler_4rank", "hta", HtaRounding::AsHta },
        Case{ "torchrec_overlap_4rank", "hta", HtaRounding::AsHta },
        Case{ "allreduce_heavy_rank1_of_2", "hta", HtaRounding::AsHta },
        Case{ "nccl_metadata_rank0", "hta", HtaRounding::AsHta }, Case{ "sampled_2_of_128", "hta", HtaRounding::AsHta },
        Case{ "rccl_rank0_of_8", "hta", HtaRounding::AsHta },
        Case{ "ns_resolution", "hta_rounded", HtaRounding::AsHta },
        Case{ "ns_resolution", "hta_unrounded", HtaRounding::Off }),
    [](const auto& parameter) { return std::string(parameter.param.traces) + "_" + parameter.param.folder; });

} // namespace rankscope::tracing
