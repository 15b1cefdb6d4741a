#include "tracing/analysis/diagnosis/live_watch.h"

#include "tests/support/temporary_directory.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace rankscope::tracing::diagnosis {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// A run of two ranks that grows under the watch's eyes: steps of 20 ms, each rank with 10 ms of one kernel and one sum
/// of gradients that takes 1 ms after the last rank has entered.
class GrowingRun : public testing::Test {
protected:
    GrowingRun() { EXPECT_EQ(reader_.ranks()->size(), 2U); }

    void steps(int count)
    {
        for (int i = 0; i < count; ++i) {
            const std::int64_t at = (++done_ - 1) * 20 * kMs;
            for (int rank = 0; rank < 2; ++rank)
                trace_.kernel(rank, { at, at + 10 * kMs });
            trace_.collective(CollectiveOp::AllReduce, Dimension::Data, 1 << 20,
                { { at + 10 * kMs, at + 13 * kMs }, { at + 12 * kMs, at + 13 * kMs } });
            for (int rank = 0; rank < 2; ++rank)
                trace_.step(rank, done_, { at, at + 20 * kMs });
        }
    }

    /// A step that tells its loss.
    void step(double loss)
    {
        steps(1);
        trace_.counter(0, "loss", "nats", done_ * 20 * kMs + 1, loss);
    }

    std::vector<Alert> poll(LiveWatch& watch)
    {
        auto alerts = watch.poll(reader_);
        EXPECT_TRUE(alerts) << alerts.error().message();
        return *alerts;
    }

    support::TemporaryDirectory directory_;
    support::TraceBuilder trace_{ directory_ / "run.rsdb", 2 };
    TraceReader reader_{ std::move(*TraceReader::open((directory_ / "run.rsdb").string())) };
    int done_ = 0;
};

DetectorRule ruleOf(const std::string& kind, double threshold) { return { kind, threshold, 1, "ann", "notify" }; }

TEST_F(GrowingRun, IsReadStepByStepAndNoStepTwice)
{
    StepReader reader;
    EXPECT_TRUE(reader.next(reader_)->empty());
    steps(3);
    const auto first = reader.next(reader_);
    ASSERT_TRUE(first);
    ASSERT_EQ(first->size(), 3U);
    EXPECT_EQ(first->front().ranks[1].kernels.begin()->second.sumNs, 10 * kMs);
    EXPECT_EQ(first->front().waitNs.at(Dimension::Data), 2 * kMs);
    EXPECT_EQ(first->front().flights.begin()->second.leastNs, kMs);
    EXPECT_TRUE(reader.next(reader_)->empty());
    steps(1);
    trace_.step(0, 5, { 80 * kMs, 100 * kMs }); // rank 1 has not ended it yet
    const auto second = reader.next(reader_);
    ASSERT_EQ(second->size(), 1U);
    EXPECT_EQ(second->front().step, 4);
    trace_.step(1, 5, { 80 * kMs, 100 * kMs });
    ASSERT_EQ(reader.next(reader_)->size(), 1U);
}

TEST_F(GrowingRun, IsReadInPortionsUntilThereIsNoMore)
{
    steps(150);
    StepReader reader;
    std::vector<std::int64_t> numbers;
    for (auto some = reader.next(reader_); !some->empty(); some = reader.next(reader_)) {
        for (const StepMeasures& step : *some)
            numbers.push_back(step.step);
    }
    ASSERT_EQ(numbers.size(), 150U);
    EXPECT_EQ(numbers.front(), 1);
    EXPECT_EQ(numbers.back(), 150);
    EXPECT_EQ(std::set(numbers.begin(), numbers.end()).size(), 150U);
}

TEST_F(GrowingRun, IsReadOnAfterARestartFromWhereItWentOn)
{
    // Attempt 0 does steps 1 to 3, attempt 1 dies before its first step, attempt 2 goes on after step 2.
    steps(3);
    StepReader reader;
    ASSERT_EQ(reader.next(reader_)->size(), 3U);
    trace_.failure({ 0, 60 * kMs, "rank 1 died", { 1 }, 70 * kMs, 2 });
    EXPECT_TRUE(reader.next(reader_)->empty());
    trace_.failure({ 1, 80 * kMs, "rank 1 died", { 1 }, 90 * kMs, 2 });
    for (int rank = 0; rank < 2; ++rank)
        trace_.step(rank, 3, { 100 * kMs, 120 * kMs }, 2);
    const auto more = reader.next(reader_);
    ASSERT_EQ(more->size(), 1U);
    EXPECT_EQ(more->front().step, 3);
    EXPECT_EQ(more->front().attempt, 2);
}

TEST_F(GrowingRun, IsReadOnWhereARestartHasFewerRanks)
{
    StepReader reader;
    trace_.failure({ 0, 10 * kMs, "rank 1 died", { 1 }, 20 * kMs, 0 });
    trace_.step(0, 1, { 100 * kMs, 120 * kMs }, 1);
    EXPECT_TRUE(reader.next(reader_)->empty()) << "rank 1 may be slow to tell";
    trace_.step(0, 2, { 120 * kMs, 6000 * kMs }, 1);
    const auto steps = reader.next(reader_);
    ASSERT_EQ(steps->size(), 1U);
    EXPECT_EQ(steps->front().step, 1);
    ASSERT_EQ(steps->front().ranks.size(), 1U);
}

TEST_F(GrowingRun, TellsDroppedRecordsOnce)
{
    LiveWatch watch({ ruleOf("dropped", 0) });
    steps(2);
    EXPECT_TRUE(poll(watch).empty());
    trace_.loss("ring full", 3, "rank 1: its ring was full");
    trace_.loss("unknown fact", 7, "rank 1: written by a newer recorder");
    const auto alerts = poll(watch);
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts[0].title, "dropped: 3 records did not fit into their rings");
    EXPECT_EQ(alerts[0].value, 3);
    EXPECT_EQ(alerts[0].step, 2);
    EXPECT_EQ(alerts[0].window.endNs, 40 * kMs);
    trace_.loss("ring full", 1, "rank 1: its ring was full");
    EXPECT_TRUE(poll(watch).empty());
}

TEST_F(GrowingRun, HoldsTheClocksErrorAgainstTheUsualExchange)
{
    LiveWatch watch({ ruleOf("clock_error", 0.5) });
    RankInfo rank;
    rank.rank = 1;
    rank.node = "node1";
    rank.clockErrorNs = kMs / 2; // half of the exchange's 1 ms: not beyond
    trace_.describe(rank);
    steps(6); // the first one warms up, five make a baseline
    EXPECT_TRUE(poll(watch).empty());
    rank.clockErrorNs = 6 * kMs / 10;
    trace_.describe(rank);
    const auto alerts = poll(watch);
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_DOUBLE_EQ(alerts[0].value, 0.6);
    EXPECT_EQ(alerts[0].ranks, std::vector<std::int32_t>{ 1 });
    EXPECT_EQ(alerts[0].title, "clock_error: the clock of rank 1 is known to 0.600 ms, an exchange takes 1.000 ms");
}

TEST_F(GrowingRun, SaysNothingOfClocksWhileNoExchangeIsKnown)
{
    LiveWatch watch({ ruleOf("clock_error", 0.5) });
    RankInfo rank;
    rank.rank = 1;
    rank.clockErrorNs = 1000 * kMs;
    trace_.describe(rank);
    EXPECT_TRUE(poll(watch).empty());
}

TEST_F(GrowingRun, TellsALossThatLeavesItsMovingMean)
{
    // 21 losses of 2 have no spread. 3 moves the mean by 3 % to 2.03 and makes the variance 0.97 x 0.03 x 1 = 0.0291;
    // 2.03 then leaves the mean and 0.97 of the variance: 0.028227, a deviation of 0.168. 2.5 is 2.80 of them above.
    LiveWatch watch({ ruleOf("loss_spike", 2.5) });
    for (int i = 0; i < 21; ++i)
        step(2);
    step(3);
    step(2.03);
    EXPECT_TRUE(poll(watch).empty());
    step(2.4); // 2.20 deviations
    EXPECT_TRUE(poll(watch).empty());
    // The mean is 2.0411 now, the variance 0.97 x (0.028227 + 0.03 x 0.1369) = 0.031364, the deviation 0.1771.
    step(2.5); // 2.59 deviations
    const auto alerts = poll(watch);
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_NEAR(alerts[0].value, (2.5 - 2.0411) / 0.177099, 1e-3);
    EXPECT_EQ(alerts[0].step, 25);
    EXPECT_EQ(alerts[0].title, "loss_spike: the loss is 2.500, 2.6 standard deviations above its moving mean of 2.041");
}

TEST_F(GrowingRun, ASpikeDoesNotHideTheNextOne)
{
    LiveWatch watch({ ruleOf("loss_spike", 2.5) });
    for (int i = 0; i < 20; ++i) // until the mean is known
        step(i % 2 == 0 ? 2 : 2.1);
    step(9);
    step(2);
    step(9);
    std::vector<std::int64_t> told;
    for (const Alert& alert : poll(watch))
        told.push_back(alert.step);
    EXPECT_EQ(told, (std::vector<std::int64_t>{ 21, 23 }));
}

TEST_F(GrowingRun, TellsALossThatIsNoNumberWithItsStepAndTime)
{
    LiveWatch watch({ ruleOf("not_a_number", 0) });
    step(2);
    EXPECT_TRUE(poll(watch).empty());
    step(std::numeric_limits<double>::quiet_NaN());
    step(std::numeric_limits<double>::quiet_NaN());
    auto alerts = poll(watch);
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts[0].title, "not_a_number: the loss is not a number");
    EXPECT_EQ(alerts[0].step, 2);
    EXPECT_EQ(alerts[0].window.beginNs, 20 * kMs);
    EXPECT_EQ(alerts[0].window.endNs, 40 * kMs + 1);
    // A number again, and none again: told again.
    step(2);
    step(std::numeric_limits<double>::infinity());
    alerts = poll(watch);
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts[0].step, 5);
}

TEST_F(GrowingRun, TwoRulesOfOneKindAreHeldApart)
{
    LiveWatch watch({ { "dropped", 0, 1, "ann", "mark" }, { "dropped", 5, 1, "bob", "stop" } });
    trace_.loss("ring full", 3, "rank 1: its ring was full");
    auto alerts = poll(watch);
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts[0].rule.owner, "ann");
    trace_.loss("ring full", 3, "rank 1: its ring was full");
    alerts = poll(watch);
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts[0].rule.owner, "bob");
    EXPECT_EQ(alerts[0].value, 6);
}

} // namespace
} // namespace rankscope::tracing::diagnosis
