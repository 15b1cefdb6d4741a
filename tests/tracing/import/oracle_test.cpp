#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"
#include "tracing/analysis/load.h"
#include "tracing/analysis/time_split.h"
#include "tracing/import/importer.h"
#include "tracing/model/interval.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

/// A generator that lays its timeline out so that the totals are known by construction.
fs::path generator()
{
    const char* traces = std::getenv("RANKSCOPE_TRACES");
    return fs::absolute(fs::path(traces ? traces : "../shared/traces")).lexically_normal().parent_path()
        / "tools/gen_kineto.py";
}

struct Shape {
    const char* name;
    std::vector<std::string> arguments;
};

class Oracle : public testing::TestWithParam<Shape> { };

/// Time that each kind of row covers, and all of them.
struct Covered {
    std::int64_t memoryNs = 0, busyNs = 0;
};
Covered coveredBy(const RankRows& rows)
{
    std::vector<Window> memory, all;
    for (const Copy& row : rows.copies)
        memory.push_back({ row.beginNs, row.endNs });
    all = memory;
    for (const Kernel& row : rows.kernels)
        all.push_back({ row.beginNs, row.endNs });
    for (const SplitPart& row : rows.parts)
        all.push_back({ row.beginNs, row.endNs });
    return { totalNs(unionOf(std::move(memory))), totalNs(unionOf(std::move(all))) };
}

/// Sum of durations by name, over the kernels, copies and collectives of a rank.
std::map<std::string, std::int64_t> sumsByName(TraceReader& reader, const RunFacts& facts, std::int32_t rank)
{
    std::map<std::string, std::int64_t> sums;
    for (const Lane& lane : facts.lanes) {
        if (lane.rank != rank)
            continue;
        const auto kernels = reader.kernels(lane.id, facts.window);
        for (const Kernel& row : *kernels) {
            const KernelSignature& signature = facts.signatures[static_cast<std::size_t>(raw(row.signature))];
            sums[facts.names[static_cast<std::size_t>(raw(signature.name))]] += row.endNs - row.beginNs;
        }
        const auto copies = reader.copies(lane.id, facts.window);
        for (const Copy& row : *copies)
            sums[facts.names[static_cast<std::size_t>(raw(row.name))]] += row.endNs - row.beginNs;
        const auto parts = reader.collectives(lane.id, facts.window);
        for (const CollectivePart& row : *parts)
            sums[facts.names[static_cast<std::size_t>(raw(row.name))]] += row.endNs - row.beginNs;
    }
    return sums;
}

} // namespace

TEST_P(Oracle, ImportedTotalsAreTheKnownOnesToTheNanosecond)
{
    if (!fs::exists(generator()))
        GTEST_SKIP() << "no " << generator() << "; set RANKSCOPE_TRACES to the folder of real traces, tools beside it";
    if (support::run({ .words = { "python3", "--version" } }).exitCode != 0)
        GTEST_SKIP() << "no python3 to run " << generator();
    const support::TemporaryDirectory folder;
    const std::string job = folder / "job", known = folder / "oracle.json", out = folder / "run.rsdb";
    std::vector<std::string> command{ "python3", generator().string(), "--oracle", known, job };
    command.insert(command.end(), GetParam().arguments.begin(), GetParam().arguments.end());
    ASSERT_EQ(support::run({ .words = command }).exitCode, 0);

    const auto report = importTraces({ job }, out);
    ASSERT_TRUE(report) << report.error().message();
    auto reader = TraceReader::open(out);
    ASSERT_TRUE(reader);
    const auto facts = loadFacts(*reader);
    ASSERT_TRUE(facts);
    const auto communication = loadCommunication(*reader, *facts, facts->window);
    ASSERT_TRUE(communication);

    std::stringstream text;
    text << std::ifstream(known).rdbuf();
    rapidjson::Document oracle;
    oracle.Parse(text.str().c_str());
    ASSERT_EQ(static_cast<std::size_t>(oracle["ranks"].Size()), facts->ranks.size());
    for (const auto& rank : oracle["ranks"].GetArray()) {
        const auto rows = loadRank(*reader, *facts, *communication, rank["rank"].GetInt(), facts->window);
        ASSERT_TRUE(rows);
        const OverlapSummary summary = overlapSummary(*rows, facts->window);
        const auto& totals = rank["totals"];
        EXPECT_EQ(summary.computeNs, totals["compute"].GetInt64());
        EXPECT_EQ(summary.communicationNs, totals["comm"].GetInt64());
        EXPECT_EQ(summary.overlapNs, totals["overlap"].GetInt64());
        EXPECT_EQ(summary.exposedNs, totals["exposed_comm"].GetInt64());
        const Covered covered = coveredBy(*rows);
        EXPECT_EQ(covered.memoryNs, totals["memory"].GetInt64());
        EXPECT_EQ(covered.busyNs, totals["busy"].GetInt64());
        std::int64_t inSteps = 0;
        for (const Step& step : facts->steps)
            inSteps += step.rank == rank["rank"].GetInt() ? step.endNs - step.beginNs : 0;
        EXPECT_EQ(inSteps - covered.busyNs, totals["idle"].GetInt64());
        std::map<std::string, std::int64_t> byName;
        for (const auto& kernel : rank["kernel_ns"].GetObject())
            byName[kernel.name.GetString()] = kernel.value.GetInt64();
        EXPECT_EQ(sumsByName(*reader, *facts, rank["rank"].GetInt()), byName);
        std::int64_t wait = 0;
        for (const SplitPart& part : rows->parts)
            wait += part.waitNs();
        // The clocks' estimate may be off by what the ends of a collective are apart: nothing here.
        EXPECT_EQ(wait, totals["wait"].GetInt64());
        EXPECT_EQ(rank["events_by_category"]["kernel"].GetInt64(),
            static_cast<std::int64_t>(rows->kernels.size() + rows->parts.size()));
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Oracle,
    testing::Values(Shape{ "straggler",
                        { "--ranks", "3", "--events", "6000", "--straggler-rank", "1", "--straggler-factor", "1.5" } },
        Shape{ "skewed", { "--ranks", "4", "--events", "4000", "--skew-us", "300", "--overlap", "0.2" } },
        Shape{ "numeric", { "--ranks", "1", "--events", "8000", "--numeric-ids", "--overlap", "0.9" } }),
    [](const auto& shape) { return std::string(shape.param.name); });

} // namespace rankscope::tracing
