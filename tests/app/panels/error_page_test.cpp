#include "app/panels/error_page.h"

#include "tests/support/temporary_directory.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

QString words(const ErrorPage& page)
{
    QString all;
    for (const QLabel* label : page.findChildren<QLabel*>())
        all += label->text() + "\n";
    return all;
}

TEST(ErrorPage, SaysWhatWhichValueAndWhatToDo)
{
    const support::TemporaryDirectory directory;
    const auto file = QString::fromStdString(directory.write("empty.rsdb", "").string());
    ErrorPage page;
    page.setError(file, "open empty.rsdb: it is no run file");
    const QString all = words(page);
    EXPECT_TRUE(all.contains("empty.rsdb cannot be opened")) << all.toStdString();
    EXPECT_TRUE(all.contains("it is no run file"));
    EXPECT_TRUE(all.contains("0 bytes")) << all.toStdString();
}

TEST(ErrorPage, TwoRunsAreNotCalledDamaged)
{
    ErrorPage page;
    page.setError("/runs/a.rsdb", "merge: /runs/a.rsdb and /runs/b.rsdb both hold rank 0");
    EXPECT_TRUE(words(page).contains("open one of them")) << words(page).toStdString();
    EXPECT_FALSE(words(page).contains("damaged"));
}

TEST(ErrorPage, MissingFileAndFolderHaveTheirOwnAdvice)
{
    const support::TemporaryDirectory directory;
    ErrorPage page;
    page.setError(QString::fromStdString((directory / "gone.rsdb").string()), "open gone.rsdb: no such file");
    EXPECT_TRUE(words(page).contains("moved, renamed or deleted"));
    page.setError(QString::fromStdString(directory.path().string()), "open: is a directory");
    EXPECT_TRUE(words(page).contains("A folder is read for traces"));
}

TEST(ErrorPage, CopiesTheDetails)
{
    ErrorPage page;
    page.setError("/nowhere/run.rsdb", "open run.rsdb: no such file");
    for (QPushButton* button : page.findChildren<QPushButton*>()) {
        if (button->text() == "Copy details")
            button->click();
    }
    const QString copied = QGuiApplication::clipboard()->text();
    EXPECT_TRUE(copied.contains("open run.rsdb: no such file")) << copied.toStdString();
    EXPECT_TRUE(copied.contains("/nowhere/run.rsdb"));
}

} // namespace
} // namespace rankscope::app
