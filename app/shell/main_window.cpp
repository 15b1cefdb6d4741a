#include "app/shell/main_window.h"

#include "app/launch/log_panel.h"
#include "app/launch/samples.h"
#include "app/panels/details_panel.h"
#include "app/panels/error_page.h"
#include "app/panels/losses_panel.h"
#include "app/panels/welcome_panel.h"
#include "app/shell/chips.h"
#include "app/shell/header_bar.h"
#include "app/shell/ledger_page.h"
#include "app/shell/notice_bar.h"
#include "app/shell/overview_page.h"
#include "app/shell/rail_icon.h"
#include "app/shell/silence_bar.h"
#include "app/timeline/timeline_widget.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

namespace rankscope::app {
namespace {

constexpr int kRailWidth = 72;
constexpr int kRailButtonHeight = 54;
constexpr int kStatusHeight = 24;
constexpr int kDockHeight = 240;

QStringList localFiles(const QMimeData* data)
{
    QStringList files;
    for (const QUrl& url : data->urls()) {
        if (url.isLocalFile())
            files << url.toLocalFile();
    }
    return files;
}

/// A run file by its name, or nothing at all: opening it tells what is wrong. All else may have to be imported.
bool isOpenedAsItIs(const QStringList& paths)
{
    const QFileInfo file(paths.first());
    return paths.size() == 1 && (file.suffix() == QLatin1String("rsdb") || !file.exists());
}

/// How often the ranks that others wait for came last; a rank that nobody waits for is left out.
std::map<std::int32_t, std::int64_t> lateCounts(const tracing::RunAnalysis* result)
{
    std::map<std::int32_t, std::int64_t> counts;
    if (result) {
        for (const tracing::Lateness& late : result->late)
            counts[late.rank] = late.lateCount;
    }
    return counts;
}

} // namespace

MainWindow::MainWindow(Look& look, QSettings& settings, QWidget* parent)
    : QMainWindow(parent)
    , look_(look)
    , settings_(settings)
    , recentFiles_(settings)
    , feed_(session_)
    , header_(new HeaderBar)
    , notice_(new NoticeBar)
    , silence_(new SilenceBar(session_))
    , rail_(new QToolBar)
    , pages_(new QStackedWidget)
    , welcome_(new WelcomePanel)
    , opening_(new QLabel)
    , error_(new ErrorPage)
    , overview_(new OverviewPage(session_, feed_, look, true))
    , timeline_(new timeline::TimelineWidget)
    , ledger_(new LedgerPage(session_, feed_, look))
    , lossesPanel_(new LossesPanel)
    , details_(new DetailsPanel(session_, look))
    , detailsDock_(new QDockWidget(tr("Details")))
    , log_(new LogPanel(process_))
    , logDock_(new QDockWidget(tr("Log")))
    , losses_(new QPushButton)
    , progress_(new QLabel)
    , cancelImport_(new QPushButton(tr("Cancel")))
{
    setWindowTitle(QStringLiteral("Rankscope"));
    setMinimumSize(800, 500); // what does not fit scrolls
    resize(1600, 900);
    setAcceptDrops(true);
    setMenuWidget(header_);
    buildPages();
    buildTimeline();
    buildLedger();
    buildRail();
    buildDocks();
    buildStatusBar();
    buildMenus();

    connect(&session_, &RunSession::stateChanged, this, &MainWindow::updateState);
    connect(&session_, &RunSession::snapshotChanged, this, &MainWindow::updateStatus);
    connect(&session_, &RunSession::progressChanged, this, &MainWindow::updateHeader);
    connect(&session_, &RunSession::selectionChanged, this, [this] {
        if (session_.selection().isEmpty())
            return;
        detailsDock_->show();
        detailsDock_->raise();
    });
    connect(&feed_, &AnalysisFeed::changed, this, [this] {
        if (const auto result = feed_.result())
            recentFiles_.setHeadline(named_.value(0), QString::fromStdString(result->headline.sentence));
        timeline_->setLateCounts(lateCounts(feed_.result().get()));
        timeline_->setLedger(feed_.lanes());
        updateHeader();
        updateStatus();
        if (isSettled())
            emit settled();
    });
    connect(&import_, &ImportJob::progressed, progress_, &QLabel::setText);
    connect(&import_, &ImportJob::finished, this, &MainWindow::takeImport);
    connect(&import_, &ImportJob::failed, this, &MainWindow::importFailed);
    connect(&process_, &RunProcess::finished, this, &MainWindow::runEnded);
    connect(&look_, &Look::themeChanged, this, &MainWindow::paintRail);
    updateState();
}

MainWindow::~MainWindow() = default;

void MainWindow::buildPages()
{
    opening_->setProperty("look", "cause");
    opening_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    opening_->setMargin(24);
    for (QWidget* page : { static_cast<QWidget*>(welcome_), static_cast<QWidget*>(opening_),
             static_cast<QWidget*>(error_), static_cast<QWidget*>(overview_), static_cast<QWidget*>(timeline_),
             static_cast<QWidget*>(ledger_), static_cast<QWidget*>(lossesPanel_) })
        pages_->addWidget(page);
    auto* center = new QWidget;
    center->setObjectName(QStringLiteral("page"));
    auto* column = new QVBoxLayout(center);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(notice_);
    column->addWidget(silence_);
    column->addWidget(pages_, 1);
    setCentralWidget(center);
    connect(welcome_, &WelcomePanel::openRequested, this, &MainWindow::chooseFile);
    connect(welcome_, &WelcomePanel::folderRequested, this, &MainWindow::chooseFolder);
    connect(welcome_, &WelcomePanel::newRunRequested, this, &MainWindow::newRun);
    connect(welcome_, &WelcomePanel::recentChosen, this, &MainWindow::open);
    connect(welcome_, &WelcomePanel::sampleChosen, this, &MainWindow::newRunFrom);
    connect(error_, &ErrorPage::openRequested, this, &MainWindow::chooseFile);
    connect(&overview_->panel(), &OverviewPanel::copyRequested, this, &MainWindow::copyOverview);
    connect(&overview_->panel(), &OverviewPanel::saveRequested, this, &MainWindow::saveOverview);
    connect(notice_, &NoticeBar::logRequested, logDock_, [this] {
        logDock_->show();
        logDock_->raise();
    });
}

void MainWindow::buildTimeline()
{
    timeline_->setTheme(look_.theme());
    timeline_->setFocusPolicy(Qt::StrongFocus);
    connect(&look_, &Look::themeChanged, timeline_, [this] { timeline_->setTheme(look_.theme()); });
    connect(timeline_, &timeline::TimelineWidget::selectionChanged, this, &MainWindow::takeSelection);
    connect(timeline_, &timeline::TimelineWidget::viewChanged, &session_, &RunSession::setWindow);
    connect(&session_, &RunSession::fileReleased, timeline_, &timeline::TimelineWidget::releaseReaders);
    OverviewPanel& overview = overview_->panel();
    connect(&overview, &OverviewPanel::evidenceRequested, this, &MainWindow::showEvidence);
    connect(&overview, &OverviewPanel::rankRequested, this, &MainWindow::showRank);
    connect(&overview, &OverviewPanel::stepRequested, this, &MainWindow::showStep);
}

void MainWindow::buildLedger()
{
    connect(&overview_->panel(), &OverviewPanel::leafRequested, this, &MainWindow::showLeaf);
    connect(ledger_, &LedgerPage::marked, timeline_, [this](const tracing::LeafStretches& stretches) {
        timeline_->setEmphasis({ .onlyStretches = true, .stretches = stretches });
    });
    connect(ledger_, &LedgerPage::unmarked, timeline_, [this] { timeline_->setEmphasis({}); });
    connect(ledger_, &LedgerPage::changed, this, [this] {
        if (view_ == View::Ledger && isSettled())
            emit settled();
    });
    LedgerPanel& panel = ledger_->panel();
    connect(&panel, &LedgerPanel::timelineRequested, this, &MainWindow::showTimeline);
    connect(&panel, &LedgerPanel::groupRequested, this, [this](const LedgerGroup& group) {
        if (group.rank)
            showRank(*group.rank);
        else if (group.step)
            showStep(*group.step);
    });
}

void MainWindow::buildRail()
{
    rail_->setObjectName(QStringLiteral("rail"));
    rail_->setMovable(false);
    rail_->setFloatable(false);
    rail_->setContextMenuPolicy(Qt::PreventContextMenu);
    rail_->setFixedWidth(kRailWidth);
    addToolBar(Qt::LeftToolBarArea, rail_);
    addRailButton(View::Welcome, tr("Welcome"));
    addRailButton(View::Overview, tr("Overview"));
    addRailButton(View::Timeline, tr("Timeline"));
    addRailButton(View::Ledger, tr("Ledger"));
    addRailButton(View::Losses, tr("Losses"));
    paintRail();
}

void MainWindow::addRailButton(View view, const QString& text)
{
    auto* button = new QToolButton;
    button->setText(text);
    button->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
    button->setIconSize({ 20, 20 });
    button->setFixedSize(kRailWidth, kRailButtonHeight);
    button->setCheckable(true);
    button->setAutoExclusive(true);
    connect(button, &QToolButton::clicked, this, [this, view] { showView(view); });
    rail_->addWidget(button);
    railButtons_[static_cast<int>(view)] = button;
}

void MainWindow::paintRail()
{
    const QColor color = toQColor(look_.colors().text);
    QColor disabled = toQColor(look_.colors().dim);
    disabled.setAlphaF(0.7F);
    const auto paint = [&](View view, RailSymbol symbol) {
        QIcon icon = railIcon(symbol, color);
        icon.addPixmap(railIcon(symbol, disabled).pixmap(20), QIcon::Disabled);
        railButtons_[static_cast<int>(view)]->setIcon(icon);
    };
    paint(View::Welcome, RailSymbol::Welcome);
    paint(View::Overview, RailSymbol::Overview);
    paint(View::Timeline, RailSymbol::Timeline);
    paint(View::Ledger, RailSymbol::Ledger);
    paint(View::Losses, RailSymbol::Losses);
}

void MainWindow::buildDocks()
{
    detailsDock_->setObjectName(QStringLiteral("details"));
    detailsDock_->setWidget(details_);
    logDock_->setObjectName(QStringLiteral("log"));
    logDock_->setWidget(log_);
    addDockWidget(Qt::BottomDockWidgetArea, detailsDock_);
    addDockWidget(Qt::BottomDockWidgetArea, logDock_);
    // Both want the whole width: one behind the other.
    tabifyDockWidget(logDock_, detailsDock_);
    resizeDocks({ detailsDock_, logDock_ }, { kDockHeight, kDockHeight }, Qt::Vertical);
    detailsDock_->hide();
    logDock_->hide();
}

void MainWindow::buildStatusBar()
{
    statusBar()->setFixedHeight(kStatusHeight);
    statusBar()->setSizeGripEnabled(false);
    losses_->setProperty("look", "status");
    losses_->setFlat(true);
    // A long line must not make the window wider.
    losses_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    connect(losses_, &QPushButton::clicked, this, &MainWindow::showLosses);
    progress_->setContentsMargins(0, 0, 14, 0);
    progress_->setTextFormat(Qt::PlainText);
    statusBar()->addWidget(losses_, 1);
    statusBar()->addPermanentWidget(progress_);
    cancelImport_->setProperty("look", "status");
    cancelImport_->hide();
    connect(cancelImport_, &QPushButton::clicked, this, &MainWindow::cancelImport);
    statusBar()->addPermanentWidget(cancelImport_);
}

void MainWindow::openAll(const QStringList& paths)
{
    if (paths.isEmpty())
        return;
    import_.cancel();
    importError_.clear();
    following_ = false;
    named_.clear();
    for (const QString& path : paths)
        named_ << QFileInfo(path).absoluteFilePath();
    named_.removeDuplicates(); // a run that is named twice is no run of two files
    if (isOpenedAsItIs(named_)) {
        session_.open(named_.first());
    } else {
        session_.close();
        import_.start(named_);
    }
    showView(View::Overview);
}

void MainWindow::takeImport(const QString& runFile)
{
    const View wanted = view_;
    session_.open(runFile); // closes first, which leads to the welcome page
    showView(wanted);
}

void MainWindow::importFailed(const QString& message)
{
    importError_ = message;
    showView(View::Overview);
}

void MainWindow::cancelImport()
{
    import_.cancel();
    closeRun();
}

void MainWindow::follow(const QString& path)
{
    import_.cancel();
    importError_.clear();
    following_ = true;
    named_ = QStringList{ QFileInfo(path).absoluteFilePath() };
    session_.follow(named_.first());
    showView(View::Overview);
}

void MainWindow::closeRun()
{
    import_.cancel();
    importError_.clear();
    session_.close();
    showView(View::Welcome);
}

void MainWindow::showView(View view)
{
    // Details are of what is selected on the timeline; on other pages they would only take room.
    if (view_ == View::Timeline && view != View::Timeline) {
        detailsOpen_ = !detailsDock_->isHidden();
        detailsDock_->hide();
    } else if (view == View::Timeline && view_ != View::Timeline && detailsOpen_) {
        detailsDock_->show();
    }
    view_ = view;
    updateState();
}

bool MainWindow::showStandIn()
{
    const auto state = session_.state();
    if (view_ == View::Welcome) {
        updateWelcome();
        pages_->setCurrentWidget(welcome_);
    } else if (isImporting()) {
        opening_->setText(tr("Importing %1…").arg(named_.join(QStringLiteral(", "))));
        pages_->setCurrentWidget(opening_);
    } else if (!importError_.isEmpty()) {
        error_->setError(named_.first(), importError_);
        pages_->setCurrentWidget(error_);
    } else if (state == RunSession::State::Opening) {
        opening_->setText(QFileInfo::exists(session_.path())
                ? tr("Opening %1…").arg(session_.path())
                : tr("Waiting for the run to create %1…").arg(session_.path()));
        pages_->setCurrentWidget(opening_);
    } else if (state == RunSession::State::Failed) {
        error_->setError(session_.path(), session_.error());
        pages_->setCurrentWidget(error_);
    } else {
        return false;
    }
    return true;
}

void MainWindow::updateState()
{
    const auto state = session_.state();
    const bool isEmpty = state == RunSession::State::Closed && !isImporting() && importError_.isEmpty();
    if (isEmpty)
        view_ = View::Welcome;
    if (showStandIn()) {
        // Nothing else to show.
    } else if (view_ == View::Timeline) {
        pages_->setCurrentWidget(timeline_);
        timeline_->setFocus();
    } else if (view_ == View::Ledger) {
        pages_->setCurrentWidget(ledger_);
    } else if (view_ == View::Losses) {
        pages_->setCurrentWidget(lossesPanel_);
    } else {
        pages_->setCurrentWidget(overview_);
    }
    updateTimelineFile();
    for (auto button = railButtons_.begin(); button != railButtons_.end(); ++button) {
        button.value()->setChecked(button.key() == static_cast<int>(view_));
        button.value()->setEnabled(button.key() == static_cast<int>(View::Welcome) || !isEmpty);
    }
    for (QAction* action : runActions_)
        action->setEnabled(state == RunSession::State::Open);
    updateHeader();
    updateStatus();
    if (isSettled())
        emit settled();
}

/// The timeline reads by itself: it is told which file when that has proved to be a run.
void MainWindow::updateTimelineFile()
{
    const QString path = session_.state() == RunSession::State::Open ? session_.path() : QString();
    if (path == shownPath_)
        return;
    shownPath_ = path;
    if (path.isEmpty())
        return timeline_->closeFile();
    if (named_.size() == 1)
        recentFiles_.add(named_.first());
    timeline_->openFile(path);
    // A run just opened is shown as a whole; one that is watched keeps its head in view.
    if (following_)
        timeline_->setFollowing(true);
}

void MainWindow::updateHeader()
{
    const auto snapshot = session_.snapshot();
    if (!snapshot) {
        const QString file = session_.state() == RunSession::State::Closed && !isImporting()
            ? QString()
            : QFileInfo(named_.value(0)).fileName();
        header_->setRun(file.isEmpty() ? QStringLiteral("Rankscope") : file, {});
        setWindowTitle(QStringLiteral("Rankscope"));
        return;
    }
    const QString name = snapshot->run.name.empty() ? QFileInfo(session_.path()).completeBaseName()
                                                    : QString::fromStdString(snapshot->run.name);
    const auto result = feed_.result();
    header_->setRun(name, runChips(*snapshot, result.get(), session_.progress(), session_.behindNs()));
    setWindowTitle(name + QStringLiteral(" – Rankscope"));
}

void MainWindow::updateStatus()
{
    const auto snapshot = session_.snapshot();
    losses_->setText(snapshot ? lossLine(snapshot->losses) : tr("No run open"));
    losses_->setEnabled(snapshot != nullptr);
    lossesPanel_->setLosses(snapshot ? snapshot->losses : std::vector<tracing::Loss>());
    cancelImport_->setVisible(isImporting());
    if (isImporting())
        return; // its own words stand there
    if (session_.state() == RunSession::State::Opening)
        progress_->setText(tr("opening"));
    else if (snapshot && !feed_.result() && feed_.error().isEmpty())
        progress_->setText(tr("counting"));
    else
        progress_->clear();
}

void MainWindow::updateWelcome()
{
    QVector<WelcomePanel::Item> recent;
    for (const auto& entry : recentFiles_.entries()) {
        const QFileInfo file(entry.path);
        const QString missing = tr("the file is gone: %1").arg(entry.path);
        recent.push_back({ file.completeBaseName(),
            !file.exists()                 ? missing
                : entry.headline.isEmpty() ? entry.path
                                           : entry.headline,
            entry.path });
    }
    welcome_->setRecent(recent);
    QVector<WelcomePanel::Item> samples;
    for (const Sample& sample : samplesIn(sampleFolder(QApplication::applicationDirPath())))
        samples.push_back({ sample.name, sample.line, sample.path });
    welcome_->setSamples(samples);
}

bool MainWindow::isSettled() const
{
    if (isImporting())
        return false;
    switch (session_.state()) {
    case RunSession::State::Closed:
    case RunSession::State::Failed:
        return true;
    case RunSession::State::Opening:
        return false;
    case RunSession::State::Open:
        break;
    }
    if (view_ == View::Ledger && !ledger_->isSettled())
        return false;
    return (feed_.result() || !feed_.error().isEmpty()) && (view_ != View::Timeline || timeline_->settled());
}

QString MainWindow::failure() const
{
    if (!importError_.isEmpty())
        return importError_;
    return session_.state() == RunSession::State::Failed ? session_.error() : feed_.error();
}

QString MainWindow::statusText() const { return losses_->text(); }

QString MainWindow::progressText() const { return progress_->text(); }

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!localFiles(event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) { openAll(localFiles(event->mimeData())); }

void MainWindow::closeEvent(QCloseEvent* event)
{
    settings_.setValue(QStringLiteral("window/geometry"), saveGeometry());
    QMainWindow::closeEvent(event);
}

} // namespace rankscope::app
