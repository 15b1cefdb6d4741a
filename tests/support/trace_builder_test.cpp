#include "tests/support/trace_builder.h"

#include "tests/support/temporary_directory.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>

namespace rankscope::support {
namespace {

using namespace tracing;

TEST(TraceBuilder, WritesAFileThatTheReaderGivesBack)
{
    const TemporaryDirectory directory;
    const auto file = directory / "run.rsdb";
    TraceBuilder trace(file, 2);
    trace.kernel(0, { 100, 300 }, "gelu", { .flop = 64 }).bubble(1, { 0, 150 }, BubblePhase::Fill, 0);
    trace.step(0, 7, { 50, 500 }).counter(0, "loss", "nats", 500, 2.5).loss("ring full", 3, "three spans");
    trace.collective(CollectiveOp::AllReduce, Dimension::Data, 4096, { { 300, 420 }, { 380, 420 } });
    trace.finish();

    auto reader = TraceReader::open(file.string());
    ASSERT_TRUE(reader) << reader.error().message();
    EXPECT_TRUE(reader->run()->finished);
    EXPECT_EQ(reader->ranks()->size(), 2U);
    EXPECT_EQ(reader->steps()->at(0).step, 7);
    EXPECT_EQ(reader->losses()->at(0).count, 3);
    EXPECT_EQ(*reader->window(), (Window{ 0, 500 }));

    // Rank 1 entered at 380, 80 after rank 0.
    const auto matches = reader->matches({ 0, 1000 });
    ASSERT_TRUE(matches);
    ASSERT_EQ(matches->size(), 1U);
    EXPECT_EQ(matches->at(0).lateRank, 1);
    EXPECT_EQ(matches->at(0).lastEntryNs, 380);
    EXPECT_EQ(reader->partsOf(matches->at(0).id)->size(), 2U);

    const auto lanes = *reader->lanes();
    ASSERT_EQ(lanes.at(0).kind, LaneKind::Compute);
    const auto kernels = *reader->kernels(lanes.at(0).id, { 0, 1000 });
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(reader->signatures()->at(static_cast<std::size_t>(raw(kernels[0].signature))).flop, 64);
}

} // namespace
} // namespace rankscope::support
