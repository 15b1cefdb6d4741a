#include "tracing/cli/watch/live_alarms.h"

#include "tests/support/temporary_directory.h"
#include "tests/support/trace_builder.h"
#include "tracing/record/recorder.h"

#include <gtest/gtest.h>

#include <limits>

namespace rankscope::tracing {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kHourNs = 3'600'000'000'000;

std::int64_t utcNow()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

class Alarms : public testing::Test {
protected:
    void steps(int count)
    {
        for (int step = 1; step <= count; ++step) {
            const Window when{ (step - 1) * 20 * kMs, step * 20 * kMs };
            trace_.kernel(0, when).step(0, step, when);
        }
    }

    /// One look, at ranks that were started just before.
    std::vector<diagnosis::Alert> look(const diagnosis::DetectorRule& rule)
    {
        LiveAlarms alarms(file_, { rule });
        alarms.attemptBegins();
        return alarms.look(session_.path());
    }

    support::TemporaryDirectory directory_, session_;
    std::filesystem::path file_ = directory_ / "run.rsdb";
    support::TraceBuilder trace_{ file_, 1 };
};

TEST_F(Alarms, TellAHangWithTheCollectiveAndSinceWhen)
{
    const auto rank = Recorder::open({ session_.path().string(), 0, 2, 0, 1 << 16 });
    CollectiveInfo info;
    info.op = CollectiveOp::AllReduce;
    info.communicator = rank->communicator("dp", Dimension::Data, { 0, 1 });
    info.sequence = 7;
    const OpenSpan waiting = rank->collective(info);
    trace_.startedAt(utcNow() - kHourNs);
    steps(2);
    const auto alerts = look({ "hang", 0, 1, "ann", "restart" });
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_NE(alerts[0].title.find("rank 1 did not join all-reduce 7 of dp"), std::string::npos) << alerts[0].title;
    EXPECT_EQ(alerts[0].window.beginNs, 40 * kMs);
    EXPECT_GE(alerts[0].window.endNs, kHourNs);
    EXPECT_EQ(alerts[0].rule.action, "restart");
}

TEST_F(Alarms, CallNothingAHangThatIsShorterThanFiveSteps)
{
    trace_.startedAt(utcNow());
    for (int step = 1; step <= 7; ++step)
        trace_.step(0, step, { (step - 1) * kHourNs, step * kHourNs });
    EXPECT_TRUE(look({ "hang", 0, 1, "", "notify" }).empty());
}

TEST_F(Alarms, DoNotStartRanksAgainForWhatWasBeforeTheirStart)
{
    const double none = std::numeric_limits<double>::quiet_NaN();
    steps(1);
    trace_.startedAt(utcNow() - kHourNs).counter(0, "loss", "nats", 20 * kMs, none);
    auto alerts = look({ "not_a_number", 0, 1, "", "restart" });
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts[0].rule.action, "notify");
    trace_.startedAt(utcNow() + kHourNs);
    alerts = look({ "not_a_number", 0, 1, "", "restart" });
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts[0].rule.action, "restart");
}

TEST_F(Alarms, WaitForAFileThatIsNotThereYet)
{
    LiveAlarms alarms(directory_ / "later.rsdb", { { "dropped", 0, 1, "", "notify" } });
    EXPECT_TRUE(alarms.look(session_.path()).empty());
}

} // namespace
} // namespace rankscope::tracing
