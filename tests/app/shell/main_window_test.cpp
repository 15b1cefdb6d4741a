#include "app/shell/main_window.h"

#include "app/panels/error_page.h"
#include "app/panels/ledger_panel.h"
#include "app/panels/losses_panel.h"
#include "app/panels/welcome_panel.h"
#include "app/panels/widgets/finding_row.h"
#include "app/shell/header_bar.h"
#include "app/shell/help_dialog.h"
#include "app/shell/ledger_page.h"
#include "app/shell/notice_bar.h"
#include "app/shell/overview_page.h"
#include "app/shell/silence_bar.h"
#include "app/timeline/timeline_widget.h"
#include "tests/app/support/qt_wait.h"
#include "tests/app/support/sample_run.h"
#include "tests/support/temporary_directory.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDateTime>
#include <QDockWidget>
#include <QFile>
#include <QKeyEvent>
#include <QPushButton>

#include <gtest/gtest.h>

#include <thread>

namespace rankscope::app {
namespace {

class MainWindowTest : public testing::Test {
protected:
    QString path(const char* name) const { return QString::fromStdString((directory_ / name).string()); }

    void openSample()
    {
        writeSampleRun(directory_ / "run.rsdb");
        window_.show();
        window_.open(path("run.rsdb"));
        ASSERT_TRUE(waitFor([&] { return window_.isSettled(); }));
        ASSERT_TRUE(window_.failure().isEmpty()) << window_.failure().toStdString();
    }

    const OverviewModel& overview() { return window_.overviewPage().panel().model(); }

    support::TemporaryDirectory directory_;
    QSettings settings_{ QString::fromStdString((directory_ / "settings.ini").string()), QSettings::IniFormat };
    Look look_{ Theme::Dark };
    MainWindow window_{ look_, settings_ };
};

TEST_F(MainWindowTest, ShowsTheRunsFactsAndItsHeadline)
{
    openSample();
    const QStringList chips = window_.header().chipTexts();
    EXPECT_TRUE(chips.contains("2 ranks")) << chips.join(',').toStdString();
    EXPECT_TRUE(chips.contains("steps 2 to 5"));
    EXPECT_TRUE(chips.contains("500 ms"));
    EXPECT_EQ(overview().bigNumber, "65.0 %");
    EXPECT_EQ(window_.statusText(), "nothing dropped, nothing repaired");
}

TEST_F(MainWindowTest, FollowsARunThatGrows)
{
    window_.show();
    window_.follow(path("live.rsdb"));
    EXPECT_EQ(window_.session().state(), RunSession::State::Opening);
    support::TraceBuilder trace(directory_ / "live.rsdb", 2);
    addStep(trace, 1);
    ASSERT_TRUE(waitFor([&] { return overview().steps.size() == 1; }));
    for (int step = 2; step <= 5; ++step)
        addStep(trace, step);
    ASSERT_TRUE(waitFor([&] { return overview().steps.size() == 5 && overview().loss.size() == 2; }));
    EXPECT_TRUE(window_.timelineView().following());
    std::thread recorder([&] { trace.finish(); });
    EXPECT_TRUE(waitFor([&] { return window_.analysis().isComplete(); }));
    recorder.join();
    EXPECT_EQ(overview().bigNumber, "65.0 %");
}

TEST_F(MainWindowTest, CopiesAtMostTwentyLinesOfText)
{
    openSample();
    for (QPushButton* button : window_.overviewPage().findChildren<QPushButton*>()) {
        if (button->text() == "Copy")
            button->click();
    }
    const QString text = QApplication::clipboard()->text();
    EXPECT_LE(text.trimmed().split('\n').size(), 20);
    EXPECT_TRUE(text.contains("65.0 %")) << text.toStdString();
}

TEST_F(MainWindowTest, SavesAsPictureTextAndJson)
{
    openSample();
    EXPECT_EQ(window_.saveOverviewTo(path("o.png")), "");
    EXPECT_FALSE(QImage(path("o.png")).isNull());
    EXPECT_EQ(window_.saveOverviewTo(path("o.json")), "");
    EXPECT_NE(support::readText(directory_ / "o.json").find("\"ranks\""), std::string::npos);
    EXPECT_EQ(window_.saveOverviewTo(path("o.txt")), "");
    EXPECT_TRUE(window_.saveOverviewTo("/nowhere/o.txt").contains("cannot be written"));
}

TEST_F(MainWindowTest, MoreThanSixtyFourRanksAreAHeatMapOfAnyLeaf)
{
    support::TraceBuilder trace(directory_ / "many.rsdb", 72);
    for (int rank = 0; rank < 72; ++rank)
        trace.kernel(rank, { 0, (rank == 70 ? 40 : 90) * kMs }).kernel(rank, { 95 * kMs, 100 * kMs });
    trace.finish();
    window_.show();
    window_.open(path("many.rsdb"));
    ASSERT_TRUE(waitFor([&] { return window_.isSettled(); }));
    auto* map = window_.overviewPage().findChild<RankHeatMap*>();
    ASSERT_TRUE(map->isVisible());
    EXPECT_EQ(map->heat().leaf, Leaf::Host); // what most is lost in
    EXPECT_EQ(map->heat().worst.front().rank, 70);
    auto* leaf = window_.overviewPage().findChild<QComboBox*>();
    leaf->setCurrentIndex(leaf->findText("compute"));
    emit leaf->activated(leaf->currentIndex());
    EXPECT_EQ(map->heat().leaf, Leaf::Compute);
    emit map->rankClicked(70);
    EXPECT_EQ(window_.view(), MainWindow::View::Timeline);
}

TEST_F(MainWindowTest, SaysWhichRankOfAGrowingRunIsSilent)
{
    support::TraceBuilder trace(directory_ / "live.rsdb", 2);
    // Begun a minute ago; rank 0 goes on and on, rank 1 was last heard in the first step.
    trace.startedAt((QDateTime::currentMSecsSinceEpoch() - 60'000) * 1'000'000);
    addStep(trace, 1);
    trace.kernel(0, { 200 * kMs, 600'000 * kMs }, "attention");
    window_.show();
    window_.follow(path("live.rsdb"));
    auto* bar = window_.findChild<SilenceBar*>();
    ASSERT_TRUE(waitFor([&] { return bar->isVisible(); }));
    EXPECT_TRUE(bar->text().startsWith("Rank 1 has recorded nothing for ")) << bar->text().toStdString();
    EXPECT_TRUE(bar->text().endsWith("; last: all-reduce in step 1")) << bar->text().toStdString();
    window_.closeRun();
    EXPECT_FALSE(bar->isVisible());
}

TEST_F(MainWindowTest, StepLeadsToTheTimelineAtThatStep)
{
    openSample();
    emit window_.overviewPage().panel().stepRequested(3);
    EXPECT_EQ(window_.view(), MainWindow::View::Timeline);
    const tracing::Window shown = window_.timelineView().visibleWindow();
    // Step 3 lasts from 200 to 300 ms; a little of what is around may be seen.
    EXPECT_NEAR(static_cast<double>(shown.beginNs), 200e6, 10e6);
    EXPECT_NEAR(static_cast<double>(shown.endNs), 300e6, 10e6);
}

TEST_F(MainWindowTest, RankAndFindingLeadToTheirPlaceOnTheTimeline)
{
    openSample();
    emit window_.overviewPage().panel().rankRequested(1);
    EXPECT_EQ(window_.view(), MainWindow::View::Timeline);
    EXPECT_TRUE(window_.timelineView().scene().emphasis.empty());

    FindingCard card;
    card.evidence = { 160'000'000, 190'000'000 };
    card.ranks = { 1 };
    emit window_.overviewPage().panel().evidenceRequested(card);
    ASSERT_TRUE(waitFor([&] { return window_.isSettled(); }));
    EXPECT_EQ(window_.timelineView().scene().emphasis.ranks, std::set<std::int32_t>{ 1 });
    EXPECT_NEAR(static_cast<double>(window_.timelineView().visibleWindow().beginNs), 160e6, 3e6);
    EXPECT_EQ(window_.session().selection().kind, Selection::Kind::Area); // its time is counted in the details
    EXPECT_EQ(window_.session().selection().window, card.evidence);
}

TEST_F(MainWindowTest, ShowsAlertsAsTheyComeAndLeadsToTheirPlace)
{
    window_.show();
    window_.follow(path("live.rsdb"));
    support::TraceBuilder trace(directory_ / "live.rsdb", 2);
    for (int step = 1; step <= 3; ++step)
        addStep(trace, step);
    const auto rows = [this] {
        std::vector<FindingRow*> all;
        for (FindingRow* row : window_.overviewPage().findChildren<FindingRow*>()) {
            if (row->card().title.startsWith("straggler"))
                all.push_back(row);
        }
        return all;
    };
    ASSERT_TRUE(waitFor([&] { return overview().steps.size() == 3; }));
    EXPECT_TRUE(rows().empty());
    trace.alert({ "straggler: rank 1 computes 2.00 times as long as its peers",
        "threshold 0.75, is 0.5, at step 2; for ann; mark", { 1 }, { 100 * kMs, 200 * kMs } });
    ASSERT_TRUE(waitFor([&] { return rows().size() == 1; }));
    EXPECT_EQ(rows()[0]->card().text, "at 200 ms · threshold 0.75, is 0.5, at step 2 · for ann");
    EXPECT_EQ(rows()[0]->card().certainty, "mark");
    emit rows()[0]->showRequested(rows()[0]->card());
    EXPECT_EQ(window_.view(), MainWindow::View::Timeline);
    EXPECT_EQ(window_.timelineView().scene().emphasis.ranks, std::set<std::int32_t>{ 1 });
    EXPECT_NEAR(static_cast<double>(window_.timelineView().visibleWindow().beginNs), 100e6, 5e6);
}

TEST_F(MainWindowTest, DetailsStandBesideTheTimelineOnly)
{
    openSample();
    FindingCard card;
    card.evidence = { 160'000'000, 190'000'000 };
    emit window_.overviewPage().panel().evidenceRequested(card);
    auto* details = window_.findChild<QDockWidget*>("details");
    EXPECT_TRUE(details->isVisible());
    window_.showView(MainWindow::View::Ledger);
    EXPECT_FALSE(details->isVisible());
    window_.showView(MainWindow::View::Timeline);
    EXPECT_TRUE(details->isVisible());
    details->close();
    window_.showView(MainWindow::View::Overview);
    window_.showView(MainWindow::View::Timeline);
    EXPECT_FALSE(details->isVisible()); // whoever closed it does not want it back
}

TEST_F(MainWindowTest, ASegmentOfTheStripLeadsToItsLineAndMarksItsTime)
{
    openSample();
    emit window_.overviewPage().panel().leafRequested(Leaf::Wait);
    EXPECT_EQ(window_.view(), MainWindow::View::Ledger);
    LedgerPanel& panel = window_.ledgerPage().panel();
    const auto& emphasis = window_.timelineView().scene().emphasis;
    ASSERT_TRUE(waitFor([&] { return window_.isSettled() && emphasis.onlyStretches; }));
    EXPECT_EQ(panel.model().residual, "residual 0 ns");
    EXPECT_EQ(panel.table().selectedLine()->leaf.leaf, tracing::ledger::Leaf::Wait);
    ASSERT_EQ(emphasis.stretches.size(), 1U); // rank 0 waits for rank 1 from 60 to 80 ms of each step
    EXPECT_EQ(emphasis.stretches.at(0)[1], (tracing::Window{ 160'000'000, 180'000'000 }));

    emit panel.timelineRequested();
    EXPECT_EQ(window_.view(), MainWindow::View::Timeline);
    if (const char* pictures = std::getenv("RANKSCOPE_PICTURES")) { // for a person's eye
        ASSERT_TRUE(waitFor([&] { return window_.isSettled(); }));
        window_.grab().save(QString::fromUtf8(pictures) + "/timeline_marked.png");
    }
    QKeyEvent escape(QEvent::KeyPress, Qt::Key_Escape, Qt::NoModifier);
    QApplication::sendEvent(&window_.timelineView(), &escape);
    EXPECT_TRUE(emphasis.empty());
}

TEST_F(MainWindowTest, TheStatusBarLeadsToWhatWasLost)
{
    support::TraceBuilder trace(directory_ / "lossy.rsdb", 2);
    addStep(trace, 1);
    trace.loss("ring full", 12, "rank 1 dropped 12 events");
    trace.finish();
    window_.show();
    window_.open(path("lossy.rsdb"));
    ASSERT_TRUE(waitFor([&] { return window_.isSettled(); }));
    for (QPushButton* button : window_.findChildren<QPushButton*>()) {
        if (button->text() == window_.statusText())
            button->click();
    }
    EXPECT_EQ(window_.view(), MainWindow::View::Losses);
    EXPECT_EQ(window_.lossesPanel().texts(), QStringList{ "ring full: 12, rank 1 dropped 12 events" });
}

class OpensTraces : public MainWindowTest {
protected:
    OpensTraces()
    {
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((directory_ / "cache").string()));
        std::filesystem::create_directory(directory_ / "job");
        for (const char* rank : { "0", "1" })
            directory_.write("job/rank" + std::string(rank) + ".json",
                R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":10,"dur":50,)"
                R"("args":{"device":0,"stream":7}}],"distributedInfo":{"rank":)"
                    + std::string(rank) + R"(,"world_size":2}})");
    }
};

TEST_F(OpensTraces, AFolderBecomesOneRunUnderItsOwnName)
{
    window_.show();
    window_.open(path("job"));
    EXPECT_TRUE(window_.isImporting());
    ASSERT_TRUE(waitFor([&] { return window_.isSettled(); }));
    ASSERT_TRUE(window_.failure().isEmpty()) << window_.failure().toStdString();
    EXPECT_EQ(window_.session().snapshot()->ranks.size(), 2U);
    EXPECT_EQ(window_.view(), MainWindow::View::Overview);
    EXPECT_EQ(RecentFiles(settings_).entries().value(0).path, path("job"));
}

TEST_F(OpensTraces, ARunThatIsNamedTwiceIsOpenedAsItIs)
{
    writeSampleRun(directory_ / "run.rsdb");
    window_.show();
    window_.openAll({ path("run.rsdb"), path("run.rsdb") });
    EXPECT_FALSE(window_.isImporting());
    ASSERT_TRUE(waitFor([&] { return window_.isSettled(); }));
    EXPECT_EQ(window_.session().path(), path("run.rsdb"));
}

TEST_F(OpensTraces, WhyThereIsNothingToImportStandsOnThePage)
{
    window_.show();
    window_.openAll({ QString::fromStdString(directory_.write("letter.json", "Dear all").string()) });
    ASSERT_TRUE(waitFor([&] { return !window_.failure().isEmpty(); }));
    EXPECT_FALSE(window_.failure().contains('\n'));
    auto* page = window_.findChild<ErrorPage*>();
    EXPECT_TRUE(page->isVisible());
    EXPECT_TRUE(page->details().contains("letter.json")) << page->details().toStdString();
    openSample(); // and it does not stay in the way
}

TEST_F(OpensTraces, ACancelledImportLeadsBackToTheWelcomePage)
{
    window_.show();
    window_.open(path("job"));
    window_.cancelImport();
    EXPECT_FALSE(window_.isImporting());
    EXPECT_EQ(window_.view(), MainWindow::View::Welcome);
}

TEST_F(MainWindowTest, RemembersRecentRunsWithTheirHeadline)
{
    openSample();
    window_.closeRun();
    EXPECT_EQ(window_.view(), MainWindow::View::Welcome);
    RecentFiles recent(settings_);
    ASSERT_EQ(recent.entries().size(), 1);
    EXPECT_EQ(recent.entries()[0].path, path("run.rsdb"));
    EXPECT_TRUE(recent.entries()[0].headline.contains("of rank time is lost"))
        << recent.entries()[0].headline.toStdString();
    bool listed = false;
    for (const QPushButton* entry : window_.welcomePanel().findChildren<QPushButton*>())
        listed = listed || entry->toolTip() == path("run.rsdb");
    EXPECT_TRUE(listed);
}

TEST_F(MainWindowTest, FailedRunIsSaidWhereThePersonLooks)
{
    window_.show();
    window_.follow(path("never.rsdb"));
    window_.runProcess().start("sh", { "-c", "echo 'rank 1: data.path /none: no such file' >&2; exit 3" });
    ASSERT_TRUE(waitFor([&] { return !window_.notice().message().isEmpty(); }));
    EXPECT_EQ(window_.notice().message(), "The run failed: rank 1: data.path /none: no such file");
    EXPECT_EQ(window_.session().state(), RunSession::State::Closed); // no file will come any more
}

TEST_F(MainWindowTest, HelpListsTheKeysAsTheyAreBound)
{
    QStringList keys;
    for (const auto& [key, meaning] : HelpDialog::bindingsOf(window_.actions()))
        keys << key + " " + meaning;
    EXPECT_TRUE(keys.contains("Ctrl+O Open")) << keys.join('\n').toStdString();
    EXPECT_TRUE(keys.contains("Ctrl+N New run"));
    EXPECT_TRUE(keys.contains("?, F1 Keys"));
}

} // namespace
} // namespace rankscope::app
