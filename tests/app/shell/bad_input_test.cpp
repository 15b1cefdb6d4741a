#include "app/shell/main_window.h"

#include "tests/app/support/qt_wait.h"
#include "tests/app/support/sample_run.h"
#include "tests/support/sql.h"
#include "tests/support/temporary_directory.h"

#include <QLabel>

#include <gtest/gtest.h>

#include <fstream>

namespace rankscope::app {
namespace {

/// Opens a file that is no good; the window must say why, in the place of the result.
class BadInputTest : public testing::Test {
protected:
    /// The words on the page after the window has given up.
    QString pageFor(const std::filesystem::path& path)
    {
        window_.show();
        window_.open(QString::fromStdString(path.string()));
        EXPECT_TRUE(waitFor([&] { return !window_.failure().isEmpty(); })) << path;
        QString words;
        for (const QLabel* label : window_.centralWidget()->findChildren<QLabel*>()) {
            if (label->isVisible())
                words += label->text() + "\n";
        }
        return words;
    }

    support::TemporaryDirectory directory_;
    QSettings settings_{ QString::fromStdString((directory_ / "settings.ini").string()), QSettings::IniFormat };
    Look look_{ Theme::Dark };
    MainWindow window_{ look_, settings_ };
};

TEST_F(BadInputTest, NoDatabase)
{
    const QString page = pageFor(directory_.write("letter.rsdb", std::string(5000, 'x')));
    EXPECT_TRUE(page.contains("letter.rsdb cannot be opened")) << page.toStdString();
}

TEST_F(BadInputTest, FileOfNoLength)
{
    const QString page = pageFor(directory_.write("empty.rsdb", ""));
    EXPECT_TRUE(page.contains("0 bytes")) << page.toStdString();
}

TEST_F(BadInputTest, MissingFile)
{
    const QString page = pageFor(directory_ / "gone.rsdb");
    EXPECT_TRUE(page.contains("no such file")) << page.toStdString();
}

TEST_F(BadInputTest, NewerSchemaIsRefusedByName)
{
    writeSampleRun(directory_ / "new.rsdb");
    support::sql(directory_ / "new.rsdb", "PRAGMA user_version = 999");
    const QString page = pageFor(directory_ / "new.rsdb");
    EXPECT_TRUE(page.contains("999") && page.contains("newer")) << page.toStdString();
}

TEST_F(BadInputTest, TruncatedFile)
{
    writeSampleRun(directory_ / "cut.rsdb", 40);
    std::filesystem::resize_file(directory_ / "cut.rsdb", std::filesystem::file_size(directory_ / "cut.rsdb") / 3);
    const QString page = pageFor(directory_ / "cut.rsdb");
    EXPECT_TRUE(page.contains("cut.rsdb cannot be opened")) << page.toStdString();
}

} // namespace
} // namespace rankscope::app
