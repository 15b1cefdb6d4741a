#include "app/session/ledger_feed.h"

#include "tests/app/support/qt_wait.h"
#include "tests/app/support/sample_run.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

using tracing::ledger::Leaf;

TEST(LedgerFeedTest, CountsWhenItIsWantedAndFindsWhereALeafLies)
{
    const support::TemporaryDirectory directory;
    writeSampleRun(directory / "run.rsdb");
    RunSession session;
    LedgerFeed feed(session);
    session.open(QString::fromStdString((directory / "run.rsdb").string()));
    ASSERT_TRUE(waitFor([&] { return session.state() == RunSession::State::Open; }));
    EXPECT_FALSE(feed.result());
    feed.setWanted(true);
    ASSERT_TRUE(waitFor([&] { return feed.result() != nullptr; }));
    EXPECT_EQ(feed.result()->residualNs(), 0);

    tracing::LeafStretches found;
    QObject::connect(&feed, &LedgerFeed::found, [&](const tracing::LeafStretches& stretches) { found = stretches; });
    feed.findStretches({ { Leaf::Wait, tracing::Dimension::Data } });
    ASSERT_TRUE(waitFor([&] { return !feed.isFinding(); }));
    // Rank 0 waits from 60 to 80 ms of each of five steps.
    ASSERT_EQ(found.size(), 1U);
    ASSERT_EQ(found[0].size(), 5U);
    EXPECT_EQ(found[0][1], (tracing::Window{ 160 * kMs, 180 * kMs }));

    session.close();
    EXPECT_FALSE(feed.result());
}

} // namespace
} // namespace rankscope::app
