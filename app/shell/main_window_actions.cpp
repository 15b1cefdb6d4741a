#include "app/launch/run_dialog.h"
#include "app/panels/welcome_panel.h"
#include "app/shell/header_bar.h"
#include "app/shell/help_dialog.h"
#include "app/shell/ledger_page.h"
#include "app/shell/main_window.h"
#include "app/shell/notice_bar.h"
#include "app/shell/overview_page.h"
#include "app/shell/selection_of.h"
#include "app/timeline/timeline_widget.h"
#include "tracing/export/report_json.h"
#include "tracing/export/report_text.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QSaveFile>
#include <QStatusBar>
#include <QToolBar>

namespace rankscope::app {
namespace {

constexpr int kMessageMs = 4000;

/// The keys of TimelineWidget; menus would only repeat them.
HelpDialog::Bindings timelineKeys()
{
    return { { "W, S", "zoom in, out" }, { "A, D, ←, →", "move along" }, { "↑, ↓, Page up, Page down", "other ranks" },
        { "Shift+click on a rank", "fold or unfold all ranks" }, { "F", "fit the selection; again: the whole run" },
        { "0", "the whole run" }, { "Alt+←, Alt+→", "back, forward" }, { "., ,", "next, previous span of the lane" },
        { "R", "mark the selected stretch" }, { "Space", "follow the head" }, { "Esc", "clear the selection" },
        { "Click", "select" }, { "Drag", "mark a stretch" }, { "Double click", "zoom to a span" },
        { "Ctrl+wheel", "zoom" }, { "Shift+wheel, right drag", "move along" } };
}

} // namespace

QAction* MainWindow::addAction(
    QMenu* menu, const QString& text, const QList<QKeySequence>& keys, void (MainWindow::*slot)())
{
    auto* action = new QAction(text, this);
    action->setShortcuts(keys);
    connect(action, &QAction::triggered, this, slot);
    menu->addAction(action);
    // A menu that is hidden in the header keeps no shortcut alive; the window does.
    QMainWindow::addAction(action);
    return action;
}

void MainWindow::buildMenus()
{
    QMenu* file = header_->menuBar()->addMenu(tr("&File"));
    addAction(file, tr("&New run…"), { QKeySequence::New }, &MainWindow::newRun);
    addAction(file, tr("&Open…"), { QKeySequence::Open }, &MainWindow::chooseFile);
    addAction(file, tr("Open &folder…"), { QKeySequence(tr("Ctrl+Shift+O")) }, &MainWindow::chooseFolder);
    recentMenu_ = file->addMenu(tr("Open &recent"));
    connect(file, &QMenu::aboutToShow, this, &MainWindow::updateRecentMenu);
    file->addSeparator();
    runActions_ << addAction(
        file, tr("&Copy overview as text"), { QKeySequence(tr("Ctrl+Shift+C")) }, &MainWindow::copyOverview);
    runActions_ << addAction(file, tr("&Save overview as…"), { QKeySequence::Save }, &MainWindow::saveOverview);
    file->addSeparator();
    runActions_ << addAction(file, tr("Close &run"), { QKeySequence(tr("Ctrl+W")) }, &MainWindow::closeRun);
    auto* quit = new QAction(tr("&Quit"), this);
    quit->setShortcut(QKeySequence(tr("Ctrl+Q")));
    connect(quit, &QAction::triggered, this, &QWidget::close);
    file->addAction(quit);
    QMainWindow::addAction(quit);
    buildViewMenu();
    buildRunMenu();
    QMenu* help = header_->menuBar()->addMenu(tr("&Help"));
    addAction(
        help, tr("&Keys"), { QKeySequence(tr("?")), QKeySequence(QKeySequence::HelpContents) }, &MainWindow::showKeys);
    addAction(help, tr("&About Rankscope"), {}, &MainWindow::showAbout);
}

void MainWindow::buildViewMenu()
{
    QMenu* menu = header_->menuBar()->addMenu(tr("&View"));
    const auto toggle = [&](QAction* action, const QString& text, const QKeySequence& key) {
        action->setText(text);
        action->setShortcut(key);
        menu->addAction(action);
        QMainWindow::addAction(action);
    };
    toggle(detailsDock_->toggleViewAction(), tr("&Details"), QKeySequence(tr("Q")));
    toggle(logDock_->toggleViewAction(), tr("&Log"), QKeySequence(tr("Ctrl+L")));
    toggle(rail_->toggleViewAction(), tr("&Rail"), QKeySequence(tr("Ctrl+B")));
    menu->addSeparator();
    runActions_ << addAction(menu, tr("&Overview"), { QKeySequence(tr("Ctrl+1")) }, &MainWindow::showOverview);
    runActions_ << addAction(menu, tr("&Timeline"), { QKeySequence(tr("Ctrl+2")) }, &MainWindow::showTimeline);
    runActions_ << addAction(menu, tr("&Ledger"), { QKeySequence(tr("Ctrl+3")) }, &MainWindow::showLedger);
    runActions_ << addAction(menu, tr("Losse&s"), { QKeySequence(tr("Ctrl+4")) }, &MainWindow::showLosses);
    menu->addSeparator();
    addAction(
        menu, tr("Switch between dark and light &theme"), { QKeySequence(tr("Ctrl+T")) }, &MainWindow::toggleTheme);
}

void MainWindow::buildRunMenu()
{
    QMenu* menu = header_->menuBar()->addMenu(tr("&Run"));
    stopAction_ = addAction(menu, tr("&Stop the run"), { QKeySequence(tr("Ctrl+.")) }, &MainWindow::stopRun);
    stopAction_->setEnabled(false);
    connect(&process_, &RunProcess::started, this, [this] { stopAction_->setEnabled(true); });
}

void MainWindow::updateRecentMenu()
{
    recentMenu_->clear();
    for (const auto& entry : recentFiles_.entries())
        recentMenu_->addAction(entry.path, this, [this, path = entry.path] { open(path); });
    recentMenu_->setEnabled(!recentMenu_->isEmpty());
}

void MainWindow::chooseFile()
{
    const QStringList paths = QFileDialog::getOpenFileNames(this, tr("Open a run, or traces"),
        settings_.value(QStringLiteral("open/folder")).toString(),
        tr("Runs and traces (*.rsdb *.json *.json.gz *.json.zst *.sqlite *.csv *.csv.gz *.pickle *.pkl);;"
           "Runs (*.rsdb);;PyTorch and Chrome traces (*.json *.json.gz *.json.zst);;Nsight Systems exports (*.sqlite);;"
           "Pipeline timelines (*.csv *.csv.gz);;NCCL flight records (*.pickle *.pkl);;All files (*)"));
    if (paths.isEmpty())
        return;
    settings_.setValue(QStringLiteral("open/folder"), QFileInfo(paths.first()).absolutePath());
    openAll(paths);
}

void MainWindow::chooseFolder()
{
    const QString folder = QFileDialog::getExistingDirectory(
        this, tr("Open a folder of traces"), settings_.value(QStringLiteral("open/folder")).toString());
    if (folder.isEmpty())
        return;
    settings_.setValue(QStringLiteral("open/folder"), QFileInfo(folder).absolutePath());
    open(folder);
}

void MainWindow::newRun() { newRunFrom({}); }

void MainWindow::newRunFrom(const QString& configuration)
{
    const QString folder = QApplication::applicationDirPath();
    RunDialog dialog(samplesIn(sampleFolder(folder)), findProgram(QStringLiteral("rankscope-train"), folder), this);
    if (!configuration.isEmpty())
        dialog.chooseConfiguration(configuration);
    if (dialog.exec() == QDialog::Accepted)
        startRun(dialog.configuration(), dialog.settings(), dialog.output());
}

void MainWindow::startRun(const QString& configuration, const QStringList& settings, const QString& output)
{
    if (process_.isRunning()) {
        notice_->showMessage(tr("A run is still going on; stop it before you start another one"), true);
        return;
    }
    const QString program = findProgram(QStringLiteral("rankscope"), QApplication::applicationDirPath());
    if (program.isEmpty()) {
        notice_->showMessage(
            tr("rankscope is neither beside this program nor on the PATH; build or install it"), false);
        return;
    }
    const QString folder = QFileInfo(output).absolutePath();
    if (!QDir().mkpath(folder)) {
        notice_->showMessage(tr("The folder %1 cannot be created; choose another run file").arg(folder), false);
        return;
    }
    QStringList arguments{ QStringLiteral("train"), QStringLiteral("--json"), QStringLiteral("--out"), output };
    if (!configuration.isEmpty())
        arguments << QStringLiteral("--config") << configuration;
    notice_->hide();
    logDock_->show();
    logDock_->raise();
    process_.start(program, arguments + settings);
    follow(output);
}

void MainWindow::stopRun() { process_.stop(); }

void MainWindow::runEnded(const QString& message)
{
    stopAction_->setEnabled(false);
    if (message.isEmpty())
        return;
    notice_->showMessage(tr("The run failed: %1").arg(message), true);
    // There will be no file to wait for any more.
    if (session_.state() == RunSession::State::Opening && !QFileInfo::exists(session_.path()))
        closeRun();
}

void MainWindow::showEvidence(const FindingCard& card)
{
    showView(View::Timeline);
    timeline_->showWindow(card.evidence, { card.ranks.begin(), card.ranks.end() });
    timeline_->markArea(card.evidence);
}

void MainWindow::showRank(std::int32_t rank)
{
    showView(View::Timeline);
    timeline_->scrollToRank(rank);
}

void MainWindow::showLeaf(Leaf leaf)
{
    showView(View::Ledger);
    ledger_->selectLeaf(leaf);
}

void MainWindow::showWindow(tracing::Window window)
{
    showView(View::Timeline);
    timeline_->showWindow(window); // it adds a little of what is around
}

void MainWindow::showStep(std::int64_t step)
{
    const auto result = feed_.result();
    if (!result)
        return;
    for (const tracing::StepSpan& span : result->allSteps) {
        if (span.step == step)
            showWindow(span.window);
    }
}

void MainWindow::takeSelection(const timeline::Selection& selection) { session_.select(selectionOf(selection)); }

void MainWindow::toggleTheme()
{
    look_.setTheme(look_.theme() == Theme::Dark ? Theme::Light : Theme::Dark);
    settings_.setValue(QStringLiteral("theme"), look_.theme() == Theme::Dark ? "dark" : "light");
}

void MainWindow::showKeys()
{
    HelpDialog dialog(actions(), timelineKeys(), this);
    dialog.exec();
}

void MainWindow::showAbout()
{
    QMessageBox::about(this, tr("About Rankscope"),
        tr("Rankscope %1\n\nShows where a distributed training run loses its compute.\n\nApache License 2.0. Qt is "
           "used under the "
           "LGPL, Roboto under the Apache License 2.0.")
            .arg(QApplication::applicationVersion()));
}

void MainWindow::copyOverview()
{
    const auto result = feed_.result();
    if (!result)
        return;
    QApplication::clipboard()->setText(
        QString::fromStdString(tracing::briefText(*result, session_.path().toStdString())));
    statusBar()->showMessage(tr("Copied as text"), kMessageMs);
}

void MainWindow::saveOverview()
{
    if (!feed_.result())
        return;
    const QString proposed = QFileInfo(session_.path()).completeBaseName() + QStringLiteral("-overview.png");
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save overview as"), proposed, tr("Picture (*.png);;Text (*.txt);;JSON (*.json)"));
    if (path.isEmpty())
        return;
    const QString failed = saveOverviewTo(path);
    if (failed.isEmpty())
        statusBar()->showMessage(tr("Saved %1").arg(path), kMessageMs);
    else
        notice_->showMessage(failed, false);
}

QString MainWindow::saveOverviewTo(const QString& path)
{
    const auto result = feed_.result();
    if (!result)
        return tr("There is no result to save yet");
    bool saved = false;
    if (path.endsWith(QLatin1String(".txt")) || path.endsWith(QLatin1String(".json"))) {
        const std::string text = path.endsWith(QLatin1String(".json"))
            ? tracing::reportJson(*result)
            : tracing::briefText(*result, session_.path().toStdString());
        QSaveFile file(path);
        saved = file.open(QIODevice::WriteOnly) && file.write(text.data(), static_cast<qint64>(text.size())) >= 0
            && file.commit();
    } else {
        saved = overview_->panel().picture().save(path, "PNG");
    }
    return saved ? QString() : tr("write %1: it cannot be written; choose a folder that you may write to").arg(path);
}

} // namespace rankscope::app
