#include "app/models/details.h"

#include "tests/app/support/sample_run.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

class DetailsTest : public testing::Test {
protected:
    void SetUp() override
    {
        writeSampleRun(directory_ / "run.rsdb", 1);
        auto opened = tracing::TraceReader::open((directory_ / "run.rsdb").string());
        ASSERT_TRUE(opened);
        reader_ = std::make_unique<tracing::TraceReader>(std::move(*opened));
        auto snapshot = readSnapshot(*reader_);
        ASSERT_TRUE(snapshot);
        run_ = std::move(*snapshot);
    }

    tracing::LaneId lane(int rank, tracing::LaneKind kind) const
    {
        for (const auto& each : run_.lanes) {
            if (each.rank == rank && each.kind == kind)
                return each.id;
        }
        return {};
    }

    static QString field(const Details& details, const QString& name)
    {
        for (const auto& [key, value] : details.fields) {
            if (key == name)
                return value;
        }
        return {};
    }

    support::TemporaryDirectory directory_;
    std::unique_ptr<tracing::TraceReader> reader_;
    RunSnapshot run_;
};

TEST_F(DetailsTest, KernelSaysItsArithmeticAndRate)
{
    const auto details = readDetails(*reader_, run_,
        { .kind = Selection::Kind::Kernel,
            .rank = 0,
            .lane = lane(0, tracing::LaneKind::Compute),
            .window = { 0, 60 * kMs } });
    ASSERT_TRUE(details) << details.error().message();
    EXPECT_EQ(details->title, "matmul");
    EXPECT_EQ(field(*details, "duration"), "60.0 ms");
    // 1e6 FLOP in 60 ms.
    EXPECT_EQ(field(*details, "arithmetic"), "1,000,000 FLOP, 16.7 MFLOP/s");
}

TEST_F(DetailsTest, CollectiveHasARowARankAndMarksTheLateOne)
{
    const auto parts = reader_->collectives(lane(0, tracing::LaneKind::Communication), { 0, kStepNs });
    ASSERT_TRUE(parts);
    ASSERT_EQ(parts->size(), 1U);
    const auto details = readDetails(*reader_, run_,
        { .kind = Selection::Kind::Collective, .window = { 60 * kMs, 90 * kMs }, .instance = parts->front().instance });
    ASSERT_TRUE(details) << details.error().message();
    ASSERT_EQ(details->parts.size(), 2U);
    EXPECT_EQ(details->parts[0].splitNs, 80 * kMs); // the last entry, by rank 1
    EXPECT_FALSE(details->parts[0].isLate);
    EXPECT_TRUE(details->parts[1].isLate);
    EXPECT_TRUE(details->parts[0].figures.startsWith("wait 20.0 ms   transfer 10.0 ms"));
    EXPECT_EQ(details->conclusion, "Rank 1 entered last, 20.0 ms after the first.");
    EXPECT_TRUE(details->title.startsWith("all-reduce dp"));
}

TEST_F(DetailsTest, BubbleSaysWhomItWaitsFor)
{
    const auto details = readDetails(*reader_, run_,
        { .kind = Selection::Kind::Bubble,
            .rank = 1,
            .lane = lane(1, tracing::LaneKind::Compute),
            .window = { 0, 10 * kMs } });
    ASSERT_TRUE(details) << details.error().message();
    EXPECT_EQ(details->title, "Pipeline bubble, fill");
    EXPECT_EQ(field(*details, "waits for rank"), "0");
}

TEST_F(DetailsTest, MarkedStretchIsCounted)
{
    // 0 to 10 ms: rank 0 computes, rank 1 is in its bubble.
    const auto details = readDetails(*reader_, run_, { .kind = Selection::Kind::Area, .window = { 0, 10 * kMs } });
    ASSERT_TRUE(details) << details.error().message();
    EXPECT_EQ(field(*details, "compute"), "50.0 %, 10.0 ms");
    EXPECT_EQ(field(*details, "host late"), "50.0 %, 10.0 ms");
    EXPECT_EQ(details->fields.back().first, "sum");
    EXPECT_TRUE(details->fields.back().second.startsWith("100.0 %, "));
}

TEST_F(DetailsTest, SpanThatIsNotThereIsAnError)
{
    const auto details = readDetails(*reader_, run_,
        { .kind = Selection::Kind::Kernel,
            .rank = 0,
            .lane = lane(0, tracing::LaneKind::Compute),
            .window = { 1, 2 } });
    ASSERT_FALSE(details);
    EXPECT_EQ(details.error().message(), "the selected span is no longer in the file; select it again");
}

} // namespace
} // namespace rankscope::app
