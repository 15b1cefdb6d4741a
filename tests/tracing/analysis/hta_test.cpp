#include "tracing/analysis/hta.h"

#include "tests/support/temporary_directory.h"
#include "tracing/analysis/load.h"
#include "tracing/import/importer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kUs = 1000;

fs::path traces(const std::string& name)
{
    const char* folder = std::getenv("RANKSCOPE_TRACES");
    return fs::path(folder ? folder : "../shared/traces") / name;
}

/// Cells of a CSV file without quotes, its header left out.
std::vector<std::vector<std::string>> cellsOf(const fs::path& file)
{
    std::vector<std::vector<std::string>> rows;
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    while (std::getline(stream, line)) {
        std::vector<std::string> cells;
        std::istringstream parts(line);
        for (std::string cell; std::getline(parts, cell, ',');)
            cells.push_back(cell);
        rows.push_back(cells);
    }
    return rows;
}

struct Case {
    const char* traces;
    const char* folder;
    HtaRounding rounding;
};

class HtaOfRealTraces : public testing::TestWithParam<Case> { };

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
    const HtaRow row = htaRowOf({ { 50 * kUs, 60 * kUs, HtaClass::Memory }, { 0, 10 * kUs, HtaClass::Computation },
        { 5 * kUs, 20 * kUs, HtaClass::Computation }, { 15 * kUs, 40 * kUs, HtaClass::Communication } });
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

TEST_P(HtaOfRealTraces, IsHtasToTheInteger)
{
    const fs::path input = traces(GetParam().traces), expected = input / GetParam().folder;
    if (!fs::exists(expected))
        GTEST_SKIP() << "no " << expected << "; set RANKSCOPE_TRACES to the folder of real traces";
    const support::TemporaryDirectory directory;
    const std::string file = (directory.path() / "run.rsdb").string();
    ASSERT_TRUE(importTraces({ input.string() }, file));
    auto reader = TraceReader::open(file);
    const auto rows = htaBreakdown(*reader, *loadFacts(*reader), GetParam().rounding);
    ASSERT_TRUE(rows);
    const auto breakdown = cellsOf(expected / "temporal_breakdown.csv");
    const auto overlap = cellsOf(expected / "comm_comp_overlap.csv");
    ASSERT_EQ(rows->size(), breakdown.size());
    ASSERT_EQ(rows->size(), overlap.size());
    for (std::size_t i = 0; i < rows->size(); ++i) {
        const auto& cells = breakdown[i];
        EXPECT_EQ((*rows)[i].rank, std::stoi(cells.at(1)));
        EXPECT_EQ((*rows)[i].idleNs, std::llround(1e3 * std::stod(cells.at(2)))) << "rank " << cells[1];
        EXPECT_EQ((*rows)[i].computeNs, std::llround(1e3 * std::stod(cells.at(3)))) << "rank " << cells[1];
        EXPECT_EQ((*rows)[i].nonComputeNs, std::llround(1e3 * std::stod(cells.at(4)))) << "rank " << cells[1];
        EXPECT_EQ((*rows)[i].kernelNs, std::llround(1e3 * std::stod(cells.at(5)))) << "rank " << cells[1];
        const double expectedOverlap = overlap[i].size() > 2 ? std::stod(overlap[i][2]) : -1;
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
