#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"
#include "tracing/analysis/load.h"
#include "tracing/analysis/time_split.h"
#include "tracing/import/importer.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

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
