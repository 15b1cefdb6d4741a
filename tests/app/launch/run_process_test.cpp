#include "app/launch/run_process.h"

#include "tests/app/support/qt_wait.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

struct Watch {
    explicit Watch(RunProcess& process)
    {
        QObject::connect(&process, &RunProcess::line, [this](const QString& line) { lines << line; });
        QObject::connect(&process, &RunProcess::finished, [this](const QString& text) {
            ended = true;
            message = text;
        });
    }
    QStringList lines;
    QString message;
    bool ended = false;
};

TEST(RunProcess, SpellsOutTheStepsOfTheRun)
{
    EXPECT_EQ(readableLine(R"({"schema":1,"loss":2.5,"step":3,"mfu":null})"), "step 3   loss 2.5");
    EXPECT_EQ(readableLine("plain words"), "plain words");
}

TEST(RunProcess, EndsWithTheRunsOwnLastWords)
{
    RunProcess process;
    Watch watch(process);
    process.start("sh", { "-c", "echo started; echo 'rankscope: parallel.pp = 3: allowed is 1 to 2' >&2; exit 2" });
    ASSERT_TRUE(waitFor([&] { return watch.ended; }));
    EXPECT_EQ(watch.message, "rankscope: parallel.pp = 3: allowed is 1 to 2");
    EXPECT_TRUE(watch.lines.contains("started"));
}

TEST(RunProcess, SaysWhatCannotBeStarted)
{
    RunProcess process;
    Watch watch(process);
    process.start("/nowhere/rankscope", {});
    ASSERT_TRUE(waitFor([&] { return watch.ended; }));
    EXPECT_TRUE(watch.message.startsWith("start /nowhere/rankscope: ")) << watch.message.toStdString();
}

TEST(RunProcess, StopInterruptsAndTheSecondTimeKills)
{
    RunProcess process;
    Watch watch(process);
    process.start("sh", { "-c", "trap 'echo interrupted' INT; echo ready; while :; do sleep 0.05; done" });
    ASSERT_TRUE(waitFor([&] { return watch.lines.contains("ready"); }));
    process.stop();
    ASSERT_TRUE(waitFor([&] { return watch.lines.contains("interrupted"); }));
    EXPECT_FALSE(watch.ended);
    process.stop();
    ASSERT_TRUE(waitFor([&] { return watch.ended; }));
    EXPECT_TRUE(watch.message.isEmpty()); // it was wanted
}

} // namespace
} // namespace rankscope::app
