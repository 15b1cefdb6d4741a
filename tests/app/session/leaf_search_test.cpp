#include "app/session/leaf_search.h"

#include "tests/app/support/qt_wait.h"
#include "tests/app/support/sample_run.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

using tracing::ledger::Leaf;

TEST(LeafSearch, FindsWhereALeafLies)
{
    const support::TemporaryDirectory directory;
    writeSampleRun(directory / "run.rsdb");
    RunSession session;
    LeafSearch search(session);
    session.open(QString::fromStdString((directory / "run.rsdb").string()));
    ASSERT_TRUE(waitFor([&] { return session.state() == RunSession::State::Open; }));

    tracing::LeafStretches found;
    QObject::connect(&search, &LeafSearch::found, [&](const tracing::LeafStretches& stretches) { found = stretches; });
    search.find({ { Leaf::Wait, tracing::Dimension::Data } });
    ASSERT_TRUE(waitFor([&] { return !search.isRunning(); }));
    // Rank 0 waits from 60 to 80 ms of each of five steps.
    ASSERT_EQ(found.size(), 1U);
    ASSERT_EQ(found[0].size(), 5U);
    EXPECT_EQ(found[0][1], (tracing::Window{ 160 * kMs, 180 * kMs }));
}

TEST(LeafSearch, EndsWithTheRun)
{
    const support::TemporaryDirectory directory;
    writeSampleRun(directory / "run.rsdb");
    RunSession session;
    LeafSearch search(session);
    session.open(QString::fromStdString((directory / "run.rsdb").string()));
    ASSERT_TRUE(waitFor([&] { return session.state() == RunSession::State::Open; }));
    int answers = 0;
    QObject::connect(&search, &LeafSearch::found, [&] { ++answers; });
    search.find({ { Leaf::Wait, tracing::Dimension::Data } });
    session.close();
    EXPECT_FALSE(search.isRunning());
    // A question that is asked later is answered; the forgotten one has come and gone before it.
    session.open(QString::fromStdString((directory / "run.rsdb").string()));
    ASSERT_TRUE(waitFor([&] { return session.state() == RunSession::State::Open; }));
    search.find({ { Leaf::Transfer, tracing::Dimension::Data } });
    ASSERT_TRUE(waitFor([&] { return !search.isRunning(); }));
    EXPECT_EQ(answers, 1);
}

} // namespace
} // namespace rankscope::app
