#include "tests/support/temporary_directory.h"
#include "tracing/import/importer.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

constexpr Window kAll{ INT64_MIN / 4, INT64_MAX / 4 };

/// A folder of real traces, imported.
class RealFiles : public testing::Test {
protected:
    void import(const std::string& name)
    {
        const char* folder = std::getenv("RANKSCOPE_TRACES");
        const fs::path traces = fs::path(folder ? folder : "../shared/traces") / name;
        if (!fs::exists(traces))
            GTEST_SKIP() << "no " << traces << "; set RANKSCOPE_TRACES to the folder of real traces";
        const std::string out = (folder_ / "run.rsdb").string();
        const auto report = importTraces({ traces.string() }, out);
        ASSERT_TRUE(report) << report.error().message();
        report_ = *report;
        auto reader = TraceReader::open(out);
        ASSERT_TRUE(reader) << reader.error().message();
        reader_ = std::move(*reader);
    }
    std::int64_t lossCount(const std::string& kind) const
    {
        const auto it = std::ranges::find(report_.losses, kind, &Loss::kind);
        return it == report_.losses.end() ? 0 : it->count;
    }
    /// Rows of all lanes by what they are.
    std::map<std::string, std::size_t> counts()
    {
        std::map<std::string, std::size_t> counts;
        const auto lanes = *reader_->lanes();
        for (const Lane& lane : lanes) {
            counts["kernel"] += reader_->kernels(lane.id, kAll)->size();
            counts["copy"] += reader_->copies(lane.id, kAll)->size();
            counts["call"] += reader_->hostCalls(lane.id, kAll)->size();
            counts["range"] += reader_->ranges(lane.id, kAll)->size();
            counts["part"] += reader_->collectives(lane.id, kAll)->size();
        }
        return counts;
    }
    std::vector<CollectivePart> parts()
    {
        std::vector<CollectivePart> all;
        const auto lanes = *reader_->lanes();
        for (const Lane& lane : lanes) {
            const auto parts = *reader_->collectives(lane.id, kAll);
            all.insert(all.end(), parts.begin(), parts.end());
        }
        return all;
    }

    support::TemporaryDirectory folder_;
    ImportReport report_;
    std::optional<TraceReader> reader_;
};

} // namespace

TEST_F(RealFiles, TheDialectOf2020HasAllItsKernelsCopiesAndCalls)
{
    import("bare_array_2020");
    if (!reader_)
        return;
    auto rows = counts();
    EXPECT_EQ(rows["kernel"] + rows["part"], 9538u); // cat "Kernel"
    EXPECT_EQ(rows["copy"], 377u + 12u); // "Memset", "Memcpy"
    EXPECT_EQ(rows["call"], 10800u); // "Runtime"
    EXPECT_EQ(rows["range"], 42438u + 1u); // "Operator", and the instant that begins the iteration
    EXPECT_TRUE(report_.losses.empty());
}

TEST_F(RealFiles, AFileWithoutARankIsOneRankAndSaysSo)
{
    import("no_rank_info");
    if (!reader_)
        return;
    EXPECT_EQ(report_.ranks, 1);
    EXPECT_EQ(report_.worldSize, 1);
    EXPECT_EQ(counts()["range"], 2467u);
    EXPECT_EQ(lossCount("rank not in the file"), 1);
}

TEST_F(RealFiles, TimesWrittenAsStringsAreExact)
{
    import("string_timestamps");
    if (!reader_)
        return;
    // hcom_allReduce__868_0_1: "ts": "1736405443909176.934", "dur": 72994.4384375
    const auto run = reader_->run();
    ASSERT_TRUE(run);
    const auto all = parts();
    const auto first = std::ranges::find_if(all, [&](const CollectivePart& part) {
        return part.op == CollectiveOp::AllReduce && run->originUtcNs + part.beginNs == 1'736'405'443'909'176'934
            && part.endNs - part.beginNs == 72'994'438;
    });
    EXPECT_NE(first, all.end());
}

TEST_F(RealFiles, TwoOf128RanksSayThatTheOthersAreAbsent)
{
    import("sampled_2_of_128");
    if (!reader_)
        return;
    EXPECT_EQ(report_.ranks, 2);
    EXPECT_EQ(report_.worldSize, 128);
    EXPECT_EQ(lossCount("rank absent"), 126);
}

TEST_F(RealFiles, CollectivesHaveTheOperationBytesAndGroupOfTheirMetadata)
{
    import("nccl_metadata_rank0");
    if (!reader_)
        return;
    std::map<CollectiveOp, std::size_t> operations;
    std::int64_t bytes = 0;
    const auto all = parts();
    for (const CollectivePart& part : all) {
        ++operations[part.op];
        bytes += part.bytes;
    }
    EXPECT_EQ(operations[CollectiveOp::AllReduce], 15u);
    EXPECT_EQ(operations[CollectiveOp::Broadcast], 6u);
    // Each of three steps: floats 6637568 + 2431040 + 53120 + 2049000 + 7875584 + 6563840, and 53 longs.
    EXPECT_EQ(bytes, 3 * (4 * (6'637'568 + 2'431'040 + 53'120 + 2'049'000 + 7'875'584 + 6'563'840) + 8 * 53));
    const auto communicators = *reader_->communicators();
    EXPECT_TRUE(std::ranges::any_of(communicators, [](const Communicator& communicator) {
        return communicator.name == "0" && communicator.members == std::vector<std::int32_t>{ 0, 1 };
    }));
}

} // namespace rankscope::tracing
