#include "app/shell/render.h"

#include "app/panels/welcome_panel.h"
#include "app/shell/theme.h"
#include "tests/app/support/sample_run.h"
#include "tests/support/temporary_directory.h"

#include <QImage>
#include <QPushButton>

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

TEST(RenderOptions, ReadWhatTheCommandLineSays)
{
    EXPECT_EQ(parseSize("1600x900")->width(), 1600);
    EXPECT_EQ(parseSize("800x500")->height(), 500);
    EXPECT_FALSE(parseSize("799x500"));
    EXPECT_FALSE(parseSize("wide"));
    EXPECT_EQ(parseWindow("1000:2000")->window, (tracing::Window{ 1000, 2000 }));
    EXPECT_EQ(parseWindow("steps 3:5")->steps, (tracing::StepRange{ 3, 5 }));
    EXPECT_FALSE(parseWindow("2000:1000"));
    EXPECT_FALSE(parseWindow("all"));
    EXPECT_EQ(*parseView("timeline"), MainWindow::View::Timeline);
    EXPECT_EQ(*parseView("ledger"), MainWindow::View::Ledger);
    EXPECT_EQ(*parseView("losses"), MainWindow::View::Losses);
    EXPECT_EQ(*parseView("welcome"), MainWindow::View::Welcome);
    EXPECT_FALSE(parseView("sideways"));
    EXPECT_FALSE(parseTheme("blue"));
}

TEST(StyleSheet, HasAColourForEveryWord)
{
    for (const Theme theme : { Theme::Dark, Theme::Light })
        EXPECT_FALSE(styleSheet(theme).contains('@'));
    EXPECT_TRUE(styleSheet(Theme::Dark).contains("#14171a"));
    EXPECT_TRUE(styleSheet(Theme::Light).contains("#f3f5f7"));
}

TEST(Render, DrawsBothViewsInBothThemes)
{
    const support::TemporaryDirectory directory;
    writeSampleRun(directory / "run.rsdb");
    QSettings settings(QString::fromStdString((directory / "settings.ini").string()), QSettings::IniFormat);
    for (const Theme theme : { Theme::Dark, Theme::Light }) {
        Look look(theme);
        applyTheme(*qApp, theme);
        for (const auto view : { MainWindow::View::Overview, MainWindow::View::Timeline }) {
            MainWindow window(look, settings);
            RenderOptions options;
            options.output = QString::fromStdString((directory / "out.png").string());
            options.size = { 1024, 640 };
            options.view = view;
            const auto done = renderToFile(window, QString::fromStdString((directory / "run.rsdb").string()), options);
            ASSERT_TRUE(done) << done.error().message();
            const QImage image(options.output);
            EXPECT_EQ(image.size(), QSize(1024, 640));
            // A pixel of the header, and one of compute's colour somewhere on the page.
            EXPECT_EQ(image.pixelColor(500, 2), toQColor(roles(theme).panel));
            const QColor compute = toQColor(leafStyle(Leaf::Compute, theme).fill);
            int found = 0;
            for (int y = 44; y < 600; y += 2) {
                for (int x = 80; x < 1000; x += 2)
                    found += image.pixelColor(x, y) == compute;
            }
            EXPECT_GT(found, 100);
        }
    }
}

TEST(Render, TheWelcomePageNeedsNoFileAndDrawsEachEntryOnce)
{
    const support::TemporaryDirectory directory;
    QSettings settings(QString::fromStdString((directory / "settings.ini").string()), QSettings::IniFormat);
    RecentFiles(settings).add("/runs/once.rsdb");
    Look look(Theme::Dark);
    MainWindow window(look, settings);
    RenderOptions options;
    options.output = QString::fromStdString((directory / "out.png").string());
    options.size = { 800, 500 };
    options.view = MainWindow::View::Welcome;
    window.showView(MainWindow::View::Welcome); // filled again: what was there before may not shine through
    ASSERT_TRUE(renderToFile(window, {}, options));
    EXPECT_EQ(QImage(options.output).size(), QSize(800, 500));
    int entries = 0;
    for (const QPushButton* entry : window.welcomePanel().findChildren<QPushButton*>())
        entries += entry->toolTip() == "/runs/once.rsdb" && entry->isVisible();
    EXPECT_EQ(entries, 1);
}

TEST(Render, SaysWhichInputCannotBeRead)
{
    const support::TemporaryDirectory directory;
    QSettings settings(QString::fromStdString((directory / "settings.ini").string()), QSettings::IniFormat);
    Look look(Theme::Dark);
    MainWindow window(look, settings);
    const auto done
        = renderToFile(window, QString::fromStdString((directory / "none.rsdb").string()), { .output = "x.png" });
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message().find("none.rsdb"), std::string::npos) << done.error().message();
}

} // namespace
} // namespace rankscope::app
