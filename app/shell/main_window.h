#pragma once

#include "app/launch/run_process.h"
#include "app/session/analysis_feed.h"
#include "app/session/import_job.h"
#include "app/session/look.h"
#include "app/session/recent_files.h"
#include "app/session/run_session.h"

#include <QHash>
#include <QMainWindow>
#include <QSettings>

class QDockWidget;
class QLabel;
class QMenu;
class QPushButton;
class QStackedWidget;
class QToolBar;
class QToolButton;

namespace rankscope::app {

struct FindingCard;
class DetailsPanel;
class ErrorPage;
class HeaderBar;
class LedgerPage;
class LogPanel;
class LossesPanel;
class NoticeBar;
class OverviewPage;
class RunDialog;
class SilenceBar;
class WelcomePanel;
namespace timeline {
class TimelineWidget;
struct Selection;
} // namespace timeline

/// Header, rail, pages, docks and status bar around one open run.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    enum class View { Welcome, Overview, Timeline, Ledger, Losses };

    MainWindow(Look& look, QSettings& settings, QWidget* parent = nullptr);
    ~MainWindow() override;

    void open(const QString& path) { openAll({ path }); }
    /// A run file; else traces of other tools and folders of them, which are imported and become one run.
    void openAll(const QStringList& paths);
    void follow(const QString& path); ///< waits for a file that a run is about to create
    void closeRun();
    void showView(View view);
    View view() const { return view_; }
    /// What stands on screen will not change by itself: nothing is being read or counted.
    bool isSettled() const;
    QString failure() const; ///< why there is nothing to show; empty: there is, or it is not known yet

    RunSession& session() { return session_; }
    AnalysisFeed& analysis() { return feed_; }
    RunProcess& runProcess() { return process_; }
    OverviewPage& overviewPage() { return *overview_; }
    LedgerPage& ledgerPage() { return *ledger_; }
    LossesPanel& lossesPanel() { return *lossesPanel_; }
    timeline::TimelineWidget& timelineView() { return *timeline_; }
    WelcomePanel& welcomePanel() { return *welcome_; }
    HeaderBar& header() { return *header_; }
    NoticeBar& notice() { return *notice_; }
    QString statusText() const;
    QString progressText() const;
    bool isImporting() const { return import_.isRunning(); }
    void cancelImport();

    /// Starts `rankscope train` and follows its file.
    void startRun(const QString& configuration, const QStringList& settings, const QString& output);

    /// As .txt, .json, else as a picture; gives the reason where that fails.
    QString saveOverviewTo(const QString& path);

signals:
    void settled();

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;

private:
    void buildPages();
    void buildTimeline();
    void buildLedger();
    void buildRail();
    void buildDocks();
    void buildStatusBar();
    void buildMenus();
    void buildRunMenu();
    void buildViewMenu();
    QAction* addAction(QMenu* menu, const QString& text, const QList<QKeySequence>& keys, void (MainWindow::*slot)());
    void addRailButton(View view, const QString& text);
    void paintRail();

    void chooseFile();
    void chooseFolder();
    void takeImport(const QString& runFile);
    void importFailed(const QString& message);
    bool showStandIn(); ///< the page while there is no run to show; false: there is one
    void newRun();
    void newRunFrom(const QString& configuration);
    void copyOverview();
    void saveOverview();
    void showKeys();
    void showAbout();
    void toggleTheme();
    void stopRun();

    void showOverview() { showView(View::Overview); }
    void showTimeline() { showView(View::Timeline); }
    void showLedger() { showView(View::Ledger); }
    void showLosses() { showView(View::Losses); }
    void showLeaf(Leaf leaf);
    void showEvidence(const FindingCard& card);
    void showRank(std::int32_t rank);
    void showWindow(tracing::Window window);
    void showStep(std::int64_t step);
    void takeSelection(const timeline::Selection& selection);

    void updateState();
    void updateTimelineFile();
    void updateHeader();
    void updateStatus();
    void updateWelcome();
    void updateRecentMenu();
    void runEnded(const QString& message);

    Look& look_;
    QSettings& settings_;
    RecentFiles recentFiles_;
    RunSession session_;
    AnalysisFeed feed_;
    ImportJob import_;
    RunProcess process_;
    View view_ = View::Welcome;

    HeaderBar* header_;
    NoticeBar* notice_;
    SilenceBar* silence_;
    QToolBar* rail_;
    QHash<int, QToolButton*> railButtons_; ///< by View
    QStackedWidget* pages_;
    WelcomePanel* welcome_;
    QLabel* opening_;
    ErrorPage* error_;
    OverviewPage* overview_;
    timeline::TimelineWidget* timeline_;
    LedgerPage* ledger_;
    LossesPanel* lossesPanel_;
    DetailsPanel* details_;
    QDockWidget* detailsDock_;
    bool detailsOpen_ = false; ///< when the timeline was last left
    LogPanel* log_;
    QDockWidget* logDock_;
    QPushButton* losses_; ///< in the status bar; leads to all of them
    QLabel* progress_;
    QPushButton* cancelImport_;
    QMenu* recentMenu_ = nullptr;
    QList<QAction*> runActions_; ///< enabled while a run is open
    QAction* stopAction_ = nullptr;
    QString shownPath_; ///< what the timeline shows
    QStringList named_; ///< what a person opened: a run file, or what it was imported from
    QString importError_;
    bool following_ = false; ///< the open run was started or followed from here
};

} // namespace rankscope::app
