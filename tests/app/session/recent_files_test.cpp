#include "app/session/recent_files.h"

#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

class RecentFilesTest : public testing::Test {
protected:
    support::TemporaryDirectory directory_;
    QSettings settings_{ QString::fromStdString((directory_ / "settings.ini").string()), QSettings::IniFormat };
    RecentFiles recent_{ settings_ };
};

TEST_F(RecentFilesTest, NewestStandsFirstAndAFileOnlyOnce)
{
    recent_.add("/runs/a.rsdb");
    recent_.add("/runs/b.rsdb");
    recent_.add("/runs/a.rsdb");
    const auto entries = recent_.entries();
    ASSERT_EQ(entries.size(), 2);
    EXPECT_EQ(entries[0].path, "/runs/a.rsdb");
    EXPECT_EQ(entries[1].path, "/runs/b.rsdb");
}

TEST_F(RecentFilesTest, HeadlineSurvivesOpeningAgainAndANewStart)
{
    recent_.add("/runs/a.rsdb");
    recent_.setHeadline("/runs/a.rsdb", "38 % waited away");
    recent_.add("/runs/b.rsdb");
    recent_.add("/runs/a.rsdb");
    settings_.sync();
    QSettings again(settings_.fileName(), QSettings::IniFormat);
    EXPECT_EQ(RecentFiles(again).entries()[0].headline, "38 % waited away");
}

TEST_F(RecentFilesTest, KeepsTheTenNewest)
{
    for (int i = 0; i < 12; ++i)
        recent_.add(QStringLiteral("/runs/%1.rsdb").arg(i));
    const auto entries = recent_.entries();
    ASSERT_EQ(entries.size(), RecentFiles::kMost);
    EXPECT_EQ(entries.back().path, "/runs/2.rsdb");
}

TEST_F(RecentFilesTest, RemovedFileIsGone)
{
    recent_.add("/runs/a.rsdb");
    recent_.remove("/runs/a.rsdb");
    EXPECT_TRUE(recent_.entries().isEmpty());
}

} // namespace
} // namespace rankscope::app
