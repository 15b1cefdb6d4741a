#include "tests/support/temporary_directory.h"
#include "tracing/import/importer.h"
#include "tracing/import/pipeline/pipeline_reader.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace rankscope::tracing {

namespace {

constexpr Window kAll{ INT64_MIN / 4, INT64_MAX / 4 };
const std::string kHeader = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n";

class PipelineImport : public testing::Test {
protected:
    std::string write(const std::string& text) const
    {
        const std::string path = (folder_.path() / "job.csv").string();
        std::ofstream(path) << text;
        return path;
    }
    std::string out() const { return (folder_.path() / "run.rsdb").string(); }

    support::TemporaryDirectory folder_;
};

} // namespace

TEST_F(PipelineImport, StepsLieOneBehindAnotherAndMessagesFindTheirPeers)
{
    // Two stages, two steps that both begin at their own 0; step 9 lasts from 1 to 5 s over both ranks.
    const std::string file = write(kHeader
        + "0,0,0,9,forward-compute,1.0,1.0,0,0,0,0\n0,0,0,9,forward-send,2.0,0.5,0,-1,-1,-1\n"
          "0,1,2,9,forward-recv,1.5,1.0,0,-1,-1,-1\n0,1,2,9,backward-compute,3.0,2.0,0,0,0,0\n"
          "0,1,2,9,gc,4.0,0.0,0,-1,-1,-1\n0,0,0,12,optimizer,0.25,0.25,0,-1,-1,-1\n");
    const auto report = importTraces({ file }, out());
    ASSERT_TRUE(report) << report.error().message();
    auto reader = std::move(*TraceReader::open(out()));
    EXPECT_EQ(reader.run()->worldSize, 4); // ranks 0 and 2: tensor groups of two, one of each was recorded
    const auto ranks = *reader.ranks();
    ASSERT_EQ(ranks.size(), 2u);
    EXPECT_EQ(ranks[1].rank, 2);
    EXPECT_EQ(ranks[1].stage, 1);
    EXPECT_EQ(ranks[1].clockErrorNs, 0);
    const auto steps = *reader.steps();
    ASSERT_EQ(steps.size(), 4u);
    // The run begins with its first event: 1 s into step 9.
    EXPECT_EQ(steps[0].step, 9);
    EXPECT_EQ(steps[0].beginNs, 0);
    EXPECT_EQ(steps[0].endNs, 4'000'000'000);
    EXPECT_EQ(steps[1].step, 12);
    EXPECT_EQ(steps[1].beginNs, 4'000'000'000);
    EXPECT_EQ(steps[1].endNs, 4'250'000'000);
    const auto matches = *reader.matches(kAll);
    ASSERT_EQ(matches.size(), 1u);
    EXPECT_EQ(matches[0].partsPresent, 2);
    EXPECT_EQ(matches[0].lateRank, 0);
    const auto parts = *reader.partsOf(matches[0].id);
    ASSERT_EQ(parts.size(), 2u);
    const auto send = std::ranges::find(parts, CollectiveOp::Send, &CollectivePart::op);
    ASSERT_NE(send, parts.end());
    EXPECT_EQ(send->peer, 2);
    const auto lanes = *reader.lanes();
    const auto lane
        = std::ranges::find_if(lanes, [](const Lane& l) { return l.rank == 2 && l.kind == LaneKind::Compute; });
    ASSERT_NE(lane, lanes.end());
    const auto kernels = *reader.kernels(lane->id, kAll);
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].microBatch, 0);
    EXPECT_EQ(reader.signatures()->at(static_cast<std::size_t>(raw(kernels[0].signature))).pass, Pass::Backward);
    EXPECT_EQ(reader.provenance()->at("config.parallel.pp"), "2");
    EXPECT_EQ(reader.provenance()->at("config.parallel.schedule"), "1f1b");
}

TEST_F(PipelineImport, ColumnsMayStandInAnyOrderAndBrokenRowsAreCounted)
{
    const auto traces = readPipelineTimeline(write("rank,optype,duration,start_ts,step,stage,dp_rank,mb_id,seq_id\r\n"
                                                   "0,optimizer,0.5,1,0,0,0,-1,0\r\n"
                                                   "0,optimizer,nan,1,0,0,0,-1,0\r\n"
                                                   "0,optimizer,1e300,1,0,0,0,-1,0\r\n"
                                                   "-1,optimizer,1,1,0,0,0,-1,0\r\n"
                                                   "0,optim"));
    ASSERT_TRUE(traces) << traces.error().message();
    ASSERT_EQ(traces->size(), 1u);
    EXPECT_EQ(traces->front().events->count(), 1u);
    ASSERT_EQ(traces->front().losses.size(), 1u);
    EXPECT_EQ(traces->front().losses[0].count, 4);
}

TEST_F(PipelineImport, ATableOfSomethingElseIsRefused)
{
    const auto refused = importTraces({ write("name,value\na,1\n") }, out());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("not a trace"), std::string::npos);
}

TEST_F(PipelineImport, MessagesOfOneRankWithTheSameTimesAreOneLaunch)
{
    const auto traces = readPipelineTimeline(write(kHeader
        + "0,0,0,1,forward-send,1,1,0,-1,-1,-1\n0,0,0,1,backward-recv,1,1,0,-1,-1,-1\n"
          "0,0,0,1,forward-send,3,1,1,-1,-1,-1\n0,1,1,1,forward-recv,1,1,0,-1,-1,-1\n"));
    ASSERT_TRUE(traces);
    const auto& parts = traces->front().parts;
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts[0].launchGroup, parts[1].launchGroup);
    EXPECT_NE(parts[0].launchGroup, parts[2].launchGroup);
    EXPECT_NE(parts[0].launchGroup, traces->at(1).parts[0].launchGroup);
}

} // namespace rankscope::tracing
