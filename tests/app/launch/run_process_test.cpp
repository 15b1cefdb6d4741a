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
    EXPECT_EQ(readableLine(R"({"schema":1,"loss":2.5,"step":3,"mfu":null})"), "step     3   loss   2.5000");
    EXPECT_EQ(readableLine("plain words"), "plain words");
}

TEST(RunProcess, FiguresOfEveryStepStandInTheSameColumns)
{
    const QString small
        = readableLine(R"({"step":9,"loss":3.3,"grad_norm":0.95848,"mfu":0.068,"step_ms":75.7,"tokens_per_s":2703})");
    const QString large = readableLine(
        R"({"step":120,"loss":12.25,"grad_norm":11.5,"mfu":0.4,"step_ms":1475.2,"tokens_per_s":14378.1})");
    EXPECT_EQ(small,
        "step     9   loss   3.3000   time     75.7 ms   tokens/s     2703   MFU   6.8 %   gradient norm    0.958");
    EXPECT_EQ(large,
        "step   120   loss  12.2500   time   1475.2 ms   tokens/s    14378   MFU  40.0 %   gradient norm   11.500");
    EXPECT_EQ(small.size(), large.size());
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
