#include "app/session/analysis_feed.h"

#include "tests/app/support/qt_wait.h"
#include "tests/app/support/sample_run.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <thread>

namespace rankscope::app {
namespace {

QString text(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }

TEST(AnalysisFeed, CountsTheOpenRunAndForgetsItWithIt)
{
    const support::TemporaryDirectory directory;
    writeSampleRun(directory / "run.rsdb");
    RunSession session;
    AnalysisFeed feed(session);
    session.open(text(directory / "run.rsdb"));
    ASSERT_TRUE(waitFor([&] { return feed.isComplete(); }));
    // Steps 2 to 5 of two ranks; 65 % of 800 rank-ms.
    EXPECT_EQ(feed.result()->total.windowNs, 800 * kMs);
    EXPECT_EQ(feed.result()->total.computeNs, 520 * kMs);
    EXPECT_EQ(feed.ledger()->capacityNs, 1000 * kMs); // with the warm-up step
    EXPECT_EQ(feed.ledger()->residualNs(), 0);
    EXPECT_EQ(feed.lanes()->ranks.size(), 2U);
    const auto kept = feed.ledger();
    session.close();
    EXPECT_FALSE(feed.result());
    EXPECT_FALSE(feed.ledger());
    EXPECT_EQ(kept->capacityNs, 1000 * kMs); // whoever still shows it may
}

TEST(AnalysisFeed, FollowsAGrowingFile)
{
    const support::TemporaryDirectory directory;
    support::TraceBuilder trace(directory / "run.rsdb", 2);
    addStep(trace, 1);
    RunSession session;
    AnalysisFeed feed(session);
    session.open(text(directory / "run.rsdb"));
    ASSERT_TRUE(waitFor([&] { return feed.result() != nullptr; }));
    EXPECT_EQ(feed.result()->allSteps.size(), 1U);
    for (int step = 2; step <= 6; ++step)
        addStep(trace, step);
    EXPECT_TRUE(waitFor([&] { return feed.result()->allSteps.size() == 6; }));
    EXPECT_TRUE(waitFor([&] { return feed.ledger()->steps.size() == 6; }));
    EXPECT_EQ(feed.ledger()->residualNs(), 0);
    EXPECT_FALSE(feed.isComplete());
    const auto live = feed.ledger();
    // The recorder waits until readers let go, so it closes the file beside us.
    std::thread recorder([&] { trace.finish(); });
    EXPECT_TRUE(waitFor([&] { return feed.isComplete(); }));
    recorder.join();
    // Nothing came after what was looked at last, and what was labelled then stays.
    EXPECT_EQ(feed.ledger()->capacityNs, live->capacityNs);
    EXPECT_EQ(feed.ledger()->totals, live->totals);
}

} // namespace
} // namespace rankscope::app
