#include "app/launch/run_dialog.h"

#include "tests/app/support/qt_wait.h"
#include "tests/support/temporary_directory.h"

#include <QPushButton>
#include <QSpinBox>

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

/// A stand-in for rankscope-train: accepts one replica or two, refuses the rest in the backend's words.
constexpr const char* kBackend = R"(#!/bin/sh
dp=1
for word in "$@"; do case "$word" in parallel.dp=*) dp=${word#parallel.dp=};; esac; done
if [ "$dp" -gt 2 ]; then errors="\"parallel.dp = $dp: allowed is a whole number, 1 to 2\""; fi
echo "{\"errors\":[$errors],\"ranks\":$((dp * 2)),\"keys\":[
{\"key\":\"parallel.dp\",\"meaning\":\"replicas\",\"allowed\":\"1 to 2\",\"value\":\"$dp\"},
{\"key\":\"parallel.pp\",\"meaning\":\"stages\",\"allowed\":\"1 to 4\",\"value\":\"2\"},
{\"key\":\"train.steps\",\"meaning\":\"updates\",\"allowed\":\"1 or more\",\"value\":\"100\"}]}"
)";

class RunDialogTest : public testing::Test {
protected:
    void SetUp() override
    {
        const auto path = directory_.write("rankscope-train", kBackend);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        program_ = QString::fromStdString(path.string());
        configuration_ = QString::fromStdString(directory_.write("one.toml", "# Trains one.\n").string());
    }

    static QPushButton* button(const QDialog& dialog, const QString& text)
    {
        for (QPushButton* each : dialog.findChildren<QPushButton*>()) {
            if (each->text() == text)
                return each;
        }
        return nullptr;
    }

    support::TemporaryDirectory directory_;
    QString program_;
    QString configuration_;
};

TEST_F(RunDialogTest, ShowsWhatTheConfigurationSaysAndMayStart)
{
    RunDialog dialog({ { "one", "Trains one.", configuration_ } }, program_);
    ASSERT_TRUE(waitFor([&] { return dialog.plan().ranks == 2; }));
    EXPECT_TRUE(button(dialog, "Start")->isEnabled());
    EXPECT_EQ(dialog.configuration(), configuration_);
    EXPECT_TRUE(dialog.settings().isEmpty()); // nothing was changed
    EXPECT_TRUE(dialog.output().endsWith("/one-1.rsdb")) << dialog.output().toStdString();
}

TEST_F(RunDialogTest, ShowsTheBackendsErrorAtItsFieldAndDoesNotStart)
{
    RunDialog dialog({ { "one", "Trains one.", configuration_ } }, program_);
    ASSERT_TRUE(waitFor([&] { return dialog.plan().ranks == 2; }));
    // Ranks, replicas, stages, steps: the second number is dp.
    dialog.findChildren<QSpinBox*>()[1]->setValue(3);
    ASSERT_TRUE(waitFor([&] { return !dialog.faultAt("parallel.dp").isEmpty(); }));
    EXPECT_EQ(dialog.faultAt("parallel.dp"), "parallel.dp = 3: allowed is a whole number, 1 to 2");
    EXPECT_FALSE(button(dialog, "Start")->isEnabled());
    EXPECT_EQ(dialog.settings(), QStringList{ "parallel.dp=3" });
}

TEST_F(RunDialogTest, MoreRanksAreMoreReplicasOfThePipeline)
{
    RunDialog dialog({ { "one", "Trains one.", configuration_ } }, program_);
    ASSERT_TRUE(waitFor([&] { return dialog.plan().ranks == 2; }));
    dialog.findChildren<QSpinBox*>()[0]->setValue(4);
    ASSERT_TRUE(waitFor([&] { return dialog.plan().ranks == 4; }));
    EXPECT_EQ(dialog.settings(), QStringList{ "parallel.dp=2" });
    dialog.findChildren<QSpinBox*>()[0]->setValue(5);
    EXPECT_TRUE(dialog.faultAt("ranks").contains("take a multiple of 2")) << dialog.faultAt("ranks").toStdString();
}

TEST_F(RunDialogTest, SaysThatTheBackendIsMissing)
{
    RunDialog dialog({ { "one", "Trains one.", configuration_ } }, QString());
    bool shown = false;
    QObject::connect(&dialog, &RunDialog::planShown, [&] { shown = true; });
    ASSERT_TRUE(waitFor([&] { return shown; }));
    EXPECT_FALSE(button(dialog, "Start")->isEnabled());
}

} // namespace
} // namespace rankscope::app
