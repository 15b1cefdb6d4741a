#include "tests/support/temporary_directory.h"
#include "tracing/import/importer.h"
#include "tracing/store/trace_reader.h"
#include "tracing/store/trace_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace rankscope::tracing {

namespace {

constexpr Window kAll{ INT64_MIN / 4, INT64_MAX / 4 };

/// One rank of two on its node: a kernel of 10 ns with FLOPs, then its part of all-reduce number 5, in its collector's
/// time, whose 0 is `originNs`.
void writeNode(const std::string& path, std::int32_t rank, std::int64_t originNs, Window part)
{
    auto writer = std::move(*TraceWriter::open(path, TraceWriter::Mode::CreateNew));
    RunInfo run;
    run.name = "job";
    run.source = "rankscope";
    run.originUtcNs = originNs;
    run.worldSize = 2;
    ASSERT_TRUE(writer.setRun(run));
    RankInfo info;
    info.rank = rank;
    info.node = "one"; // both read one clock: nothing is moved
    info.peakFlops = 1e9;
    ASSERT_TRUE(writer.putRank(info));
    ASSERT_TRUE(writer.setProvenance("config.seed", rank == 0 ? "1" : "2"));
    const auto compute = *writer.lane({ {}, rank, LaneKind::Compute, Dimension::None, "compute", "" });
    const auto communication
        = *writer.lane({ {}, rank, LaneKind::Communication, Dimension::Data, "communication dp", "" });
    KernelSignature signature;
    signature.name = *writer.name(rank == 0 ? "matmul" : "softmax");
    signature.flop = 1000 + rank;
    const Kernel kernel{ compute, 0, 10, *writer.signature(signature), 7, 3, 4, std::nullopt };
    ASSERT_TRUE(writer.append(compute, std::span(&kernel, 1)));
    CollectiveMatch match;
    match.id = static_cast<InstanceId>(1);
    match.communicator = *writer.communicator({ {}, "dp", Dimension::Data, { 0, 1 } });
    match.op = CollectiveOp::AllReduce;
    match.sequence = 5;
    match.partsPresent = 1;
    match.partsExpected = 2;
    ASSERT_TRUE(writer.putMatch(match));
    CollectivePart row;
    row.beginNs = part.beginNs;
    row.endNs = part.endNs;
    row.op = CollectiveOp::AllReduce;
    row.instance = match.id;
    row.bytes = 4096;
    ASSERT_TRUE(writer.append(communication, std::span(&row, 1)));
    ASSERT_TRUE(writer.putStep({ rank, 1, 0, 0, 100 }));
    ASSERT_TRUE(writer.finish());
}

} // namespace

TEST(RunMerge, NodesFilesBecomeOneRunWithTheirCollectivesMatched)
{
    const support::TemporaryDirectory folder;
    const std::string a = (folder / "a.rsdb").string(), b = (folder / "b.rsdb").string(),
                      out = (folder / "out.rsdb").string();
    writeNode(a, 0, 5000, { 20, 60 });
    writeNode(b, 1, 5030, { 10, 30 });
    const auto report = importTraces({ a, b }, out);
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->ranks, 2);
    EXPECT_EQ(report->worldSize, 2);
    auto reader = std::move(*TraceReader::open(out));
    EXPECT_EQ(reader.run()->originUtcNs, 5000);
    EXPECT_EQ(reader.run()->source, "rankscope");
    EXPECT_EQ(reader.ranks()->at(1).peakFlops, 1e9);
    const auto matches = *reader.matches(kAll);
    ASSERT_EQ(matches.size(), 1u);
    EXPECT_EQ(matches[0].partsPresent, 2);
    EXPECT_EQ(matches[0].sequence, 5);
    EXPECT_EQ(matches[0].lastEntryNs, 40); // rank 1 entered at 5040
    EXPECT_EQ(matches[0].lateRank, 1);
    EXPECT_EQ(matches[0].lastExitNs, 60);
    const auto lanes = *reader.lanes();
    const auto lane
        = std::ranges::find_if(lanes, [](const Lane& l) { return l.rank == 1 && l.kind == LaneKind::Compute; });
    ASSERT_NE(lane, lanes.end());
    const auto kernels = *reader.kernels(lane->id, kAll);
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].beginNs, 30);
    EXPECT_EQ(kernels[0].cpuNs, 7);
    EXPECT_EQ(kernels[0].work, 4);
    const KernelSignature signature = reader.signatures()->at(static_cast<std::size_t>(raw(kernels[0].signature)));
    EXPECT_EQ(signature.flop, 1001);
    EXPECT_EQ(reader.names()->at(static_cast<std::size_t>(raw(signature.name))), "softmax");
    EXPECT_EQ(reader.provenance()->at("config.seed"), "1");
    EXPECT_EQ(reader.provenance()->at("merged.1.config.seed"), "2");
    EXPECT_EQ(reader.steps()->at(1).beginNs, 30);
    EXPECT_FALSE(reader.tiles(lane->id, 0, kAll)->empty());
}

TEST(RunMerge, OneRankInTwoFilesAndOtherPeoplesTracesAreRefused)
{
    const support::TemporaryDirectory folder;
    const std::string a = (folder / "a.rsdb").string(), b = (folder / "b.rsdb").string(),
                      out = (folder / "out.rsdb").string();
    writeNode(a, 0, 5000, { 20, 60 });
    writeNode(b, 0, 5030, { 10, 30 });
    const auto twice = importTraces({ a, b }, out);
    ASSERT_FALSE(twice);
    EXPECT_NE(twice.error().message().find("both hold rank 0"), std::string::npos);
    const auto trace
        = folder.write("rank1.json", R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1}])");
    const auto mixed = importTraces({ a, trace.string() }, out);
    ASSERT_FALSE(mixed);
    EXPECT_NE(mixed.error().message().find("name only run files"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(out));
}

} // namespace rankscope::tracing
