#include "app/session/run_session.h"

#include "tests/app/support/qt_wait.h"
#include "tests/app/support/sample_run.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <thread>

namespace rankscope::app {
namespace {

QString text(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }

TEST(RunSession, OpensAFinishedRun)
{
    const support::TemporaryDirectory directory;
    writeSampleRun(directory / "run.rsdb");
    RunSession session;
    session.open(text(directory / "run.rsdb"));
    EXPECT_EQ(session.state(), RunSession::State::Opening);
    ASSERT_TRUE(waitFor([&] { return session.state() != RunSession::State::Opening; }));
    ASSERT_EQ(session.state(), RunSession::State::Open) << session.error().toStdString();
    EXPECT_EQ(session.snapshot()->ranks.size(), 2U);
    EXPECT_EQ(session.snapshot()->window, (tracing::Window{ 0, 5 * kStepNs }));
    EXPECT_EQ(session.progress(), RunSession::Progress::Finished);
    EXPECT_EQ(session.behindNs(), 0);
}

TEST(RunSession, SaysWhyAFileCannotBeOpened)
{
    const support::TemporaryDirectory directory;
    directory.write("letter.txt", "Dear reader, this is no database, but it is longer than a page header of SQLite.\n");
    RunSession session;
    session.open(text(directory / "letter.txt"));
    ASSERT_TRUE(waitFor([&] { return session.state() == RunSession::State::Failed; }));
    EXPECT_TRUE(session.error().contains("letter.txt")) << session.error().toStdString();
    EXPECT_FALSE(session.snapshot());
}

TEST(RunSession, FollowsAFileFromBeforeItExistsToItsEnd)
{
    const support::TemporaryDirectory directory;
    RunSession session;
    session.follow(text(directory / "run.rsdb"));
    EXPECT_EQ(session.state(), RunSession::State::Opening);
    bool released = false;
    QObject::connect(&session, &RunSession::fileReleased, [&] { released = true; });

    support::TraceBuilder trace(directory / "run.rsdb", 2);
    addStep(trace, 1);
    ASSERT_TRUE(waitFor([&] { return session.snapshot() && session.snapshot()->window.endNs == kStepNs; }));
    EXPECT_NE(session.progress(), RunSession::Progress::Finished);
    addStep(trace, 2);
    ASSERT_TRUE(waitFor([&] { return session.snapshot()->window.endNs == 2 * kStepNs; }));
    EXPECT_EQ(session.progress(), RunSession::Progress::Live);
    // The recorder waits until readers let go, so it closes the file beside us.
    std::thread recorder([&] { trace.finish(); });
    ASSERT_TRUE(waitFor([&] { return session.progress() == RunSession::Progress::Finished; }));
    EXPECT_TRUE(released);
    recorder.join();
}

TEST(RunSession, OpeningAnotherFileDropsTheFirstOnesAnswers)
{
    const support::TemporaryDirectory directory;
    writeSampleRun(directory / "long.rsdb", 9);
    writeSampleRun(directory / "short.rsdb", 2);
    RunSession session;
    session.open(text(directory / "long.rsdb"));
    session.open(text(directory / "short.rsdb"));
    ASSERT_TRUE(waitFor([&] { return session.state() == RunSession::State::Open; }));
    EXPECT_EQ(session.snapshot()->window.endNs, 2 * kStepNs);
}

TEST(RunSession, CloseForgetsRunSelectionAndWindow)
{
    const support::TemporaryDirectory directory;
    writeSampleRun(directory / "run.rsdb");
    RunSession session;
    session.open(text(directory / "run.rsdb"));
    ASSERT_TRUE(waitFor([&] { return session.state() == RunSession::State::Open; }));
    session.select({ .kind = Selection::Kind::Kernel, .window = { 0, 10 } });
    session.setWindow(tracing::Window{ 0, 10 });
    session.close();
    EXPECT_EQ(session.state(), RunSession::State::Closed);
    EXPECT_TRUE(session.selection().isEmpty());
    EXPECT_FALSE(session.window());
    EXPECT_FALSE(session.snapshot());
}

} // namespace
} // namespace rankscope::app
