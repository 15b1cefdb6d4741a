#include "tests/support/child_process.h"
#include "tests/support/sql.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

namespace rankscope::support {
namespace {

using namespace std::chrono_literals;

TEST(TemporaryDirectory, IsGoneWithItsFilesAfterwards)
{
    std::filesystem::path path;
    {
        const TemporaryDirectory directory;
        path = directory.path();
        EXPECT_EQ(readText(directory.write("below/a.txt", "hello")), "hello");
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ChildProcess, GivesItsOutputErrorAndExitCode)
{
    const auto outcome = run({ { "sh", "-c", "echo out; echo $WORD >&2; exit 3" }, { { "WORD", "err" } } });
    EXPECT_EQ(outcome.exitCode, 3);
    EXPECT_EQ(outcome.output, "out\n");
    EXPECT_EQ(outcome.error, "err\n");
    EXPECT_FALSE(outcome.timedOut);
}

TEST(ChildProcess, ThatTakesTooLongIsKilled)
{
    const auto outcome = run({ { "sleep", "60" } }, 20ms);
    EXPECT_TRUE(outcome.timedOut);
    EXPECT_EQ(outcome.exitCode, 128 + SIGKILL);
}

TEST(ChildProcess, ThatCannotStartEndsWith127) { EXPECT_EQ(run({ { "/nonexistent/program" } }).exitCode, 127); }

TEST(ChildProcess, CanBeWatchedAndSignalled)
{
    ChildProcess child({ { "sh", "-c", "echo ready; sleep 60 & wait" }, { { "RS_SUPPORT_TEST", "watched" } } });
    ASSERT_TRUE(waitUntil([&] { return child.output() == "ready\n" && descendants(child.pid()).size() == 1; }, 10s));
    EXPECT_TRUE(child.isRunning());
    EXPECT_EQ(processesWithEnvironment("RS_SUPPORT_TEST", "watched").size(), 2U);
    child.signalGroup(SIGTERM);
    EXPECT_EQ(child.wait(10s).exitCode, 128 + SIGTERM);
}

TEST(Sql, RunsAStatementPastTheStore)
{
    const TemporaryDirectory directory;
    const auto file = directory / "a.db";
    EXPECT_EQ(sql(file, "CREATE TABLE t (x INTEGER)"), "");
    EXPECT_EQ(sql(file, "INSERT INTO t VALUES (42)"), "");
    EXPECT_EQ(sql(file, "SELECT x FROM t"), "42");
    EXPECT_EQ(sql(file, "SELECT y FROM t"), "error: no such column: y");
}

} // namespace
} // namespace rankscope::support
