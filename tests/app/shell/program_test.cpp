#include "tests/app/support/sample_run.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"

#include <QImage>
#include <QStandardPaths>

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

using namespace std::chrono_literals;

/// The program itself, as a person starts it.
class ProgramTest : public testing::Test {
protected:
    support::Outcome app(std::vector<std::string> words)
    {
        words.insert(words.begin(), RS_APP);
        return support::run({ words,
            { { "XDG_CONFIG_HOME", directory_.path().string() }, { "QT_QPA_PLATFORM", "" }, { "DISPLAY", "" } } });
    }

    support::TemporaryDirectory directory_;
};

TEST_F(ProgramTest, DrawsAPictureWithoutADisplay)
{
    writeSampleRun(directory_ / "run.rsdb");
    const auto out = (directory_ / "o.png").string();
    const auto outcome
        = app({ "--render", out, "--size", "1280x720", "--view", "timeline", (directory_ / "run.rsdb").string() });
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(QImage(QString::fromStdString(out)).size(), QSize(1280, 720));
}

TEST_F(ProgramTest, APictureLeavesNoSettingsAndNoDeviceReplaced)
{
    writeSampleRun(directory_ / "run.rsdb");
    const auto settings = directory_ / "settings";
    std::filesystem::create_directory(settings);
    const auto outcome = support::run({ { RS_APP, "--render", (directory_ / "o.png").string(),
                                            (directory_ / "run.rsdb").string() },
        { { "XDG_CONFIG_HOME", settings.string() }, { "QT_QPA_PLATFORM", "" }, { "DISPLAY", "" } } });
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_TRUE(std::filesystem::is_empty(settings));
    // Settings kept "nowhere" were once saved there, by a rename.
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(ProgramTest, EndsWithTheCodesOfTheInterface)
{
    EXPECT_EQ(app({ "--render", "o.png", "--view", "sideways", "run.rsdb" }).exitCode, 2);
    const auto unread = app({ "--render", "o.png", (directory_ / "none.rsdb").string() });
    EXPECT_EQ(unread.exitCode, 3);
    EXPECT_EQ(unread.error, "rankscope-app: open " + (directory_ / "none.rsdb").string() + ": no such file\n");
    const auto noDisplay = app({ "run.rsdb" });
    EXPECT_EQ(noDisplay.exitCode, 2);
    EXPECT_NE(noDisplay.error.find("--render"), std::string::npos) << noDisplay.error;
}

/// An X server without a screen, mouse and keys by xdotool.
class XvfbTest : public ProgramTest {
protected:
    void SetUp() override
    {
        for (const char* program : { "Xvfb", "xdotool" }) {
            if (QStandardPaths::findExecutable(program).isEmpty())
                GTEST_SKIP() << program << " is not installed: mouse and keys on a real display are not tested";
        }
        server_.emplace(support::Command{ { "sh", "-c", "exec Xvfb -displayfd 1 -screen 0 1600x900x24 2>/dev/null" } });
        ASSERT_TRUE(support::waitUntil([&] { return server_->output().find('\n') != std::string::npos; }, 20s));
        display_ = ":" + server_->output().substr(0, server_->output().find('\n'));
    }

    std::string xdo(const std::string& words)
    {
        auto outcome = support::run({ { "sh", "-c", "xdotool " + words }, { { "DISPLAY", display_ } } }, 30s);
        return outcome.output.substr(0, outcome.output.find('\n'));
    }

    bool titleBecomes(const std::string& window, const std::string& title)
    {
        return support::waitUntil([&] { return xdo("getwindowname " + window) == title; }, 30s);
    }

    std::optional<support::ChildProcess> server_;
    std::string display_;
};

TEST_F(XvfbTest, MouseAndKeysCloseOpenAndQuit)
{
    writeSampleRun(directory_ / "run.rsdb");
    support::ChildProcess app({ { RS_APP, (directory_ / "run.rsdb").string() },
        { { "DISPLAY", display_ }, { "QT_QPA_PLATFORM", "xcb" }, { "XDG_CONFIG_HOME", directory_.path().string() } } });
    const std::string window = xdo("search --sync --onlyvisible --name Rankscope | head -1");
    ASSERT_FALSE(window.empty()) << app.error();
    xdo("windowfocus --sync " + window);
    // Ctrl+W closes the run; its entry on the welcome page, clicked, opens it again; Ctrl+Q quits.
    xdo("key ctrl+w");
    ASSERT_TRUE(titleBecomes(window, "Rankscope")) << app.error();
    xdo("mousemove --window " + window + " 300 265 click 1");
    ASSERT_TRUE(titleBecomes(window, "run – Rankscope")) << app.error();
    xdo("key ctrl+q");
    EXPECT_EQ(app.wait(20s).exitCode, 0);
}

TEST_F(XvfbTest, AQuestionMarkOpensTheHelpAndEscapeClosesIt)
{
    writeSampleRun(directory_ / "run.rsdb");
    support::ChildProcess app({ { RS_APP, (directory_ / "run.rsdb").string() },
        { { "DISPLAY", display_ }, { "QT_QPA_PLATFORM", "xcb" }, { "XDG_CONFIG_HOME", directory_.path().string() } } });
    const std::string window = xdo("search --sync --onlyvisible --name Rankscope | head -1");
    ASSERT_FALSE(window.empty()) << app.error();
    for (const char* keys : { "question", "F1" }) {
        xdo("windowfocus --sync " + window);
        xdo(std::string("key ") + keys);
        EXPECT_FALSE(xdo("search --sync --onlyvisible --name '^Keys$' | head -1").empty()) << keys << app.error();
        xdo("windowfocus --sync $(xdotool search --onlyvisible --name '^Keys$' | head -1)");
        xdo("key Escape");
        EXPECT_TRUE(
            support::waitUntil([&] { return xdo("search --onlyvisible --name '^Keys$' | head -1").empty(); }, 20s))
            << keys;
    }
    xdo("windowfocus --sync " + window);
    xdo("key ctrl+q");
    EXPECT_EQ(app.wait(20s).exitCode, 0);
}

} // namespace
} // namespace rankscope::app
