#include "app/session/fonts.h"
#include "app/shell/main_window.h"
#include "app/shell/theme.h"
#include "app/timeline/timeline_widget.h"
#include "tests/app/timeline/big_run.h"
#include "tests/support/temporary_directory.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QSettings>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>

namespace rankscope::app {
namespace {

/// Knows how long the longest single event took: what a person feels as a stutter.
class TimedApplication final : public QApplication {
public:
    using QApplication::QApplication;

    bool notify(QObject* receiver, QEvent* event) override
    {
        if (depth_ > 0) // inner events are part of the outer one
            return QApplication::notify(receiver, event);
        ++depth_;
        const qint64 from = threadCpuNs();
        const char* name = receiver->metaObject()->className(); // it may be gone afterwards
        const int type = event->type();
        const bool handled = QApplication::notify(receiver, event);
        const qint64 ns = threadCpuNs() - from;
        if (ns > longestNs) {
            longestNs = ns;
            longest = std::string(name) + " event " + std::to_string(type);
        }
        --depth_;
        return handled;
    }

    /// What was the longest since the last call, in ms of the thread's own CPU time: other programs' load is not our
    /// stutter.
    double takeLongestMs() { return static_cast<double>(std::exchange(longestNs, 0)) / 1e6; }

    qint64 longestNs = 0;
    std::string longest;

private:
    static qint64 threadCpuNs()
    {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<qint64>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
    }

    int depth_ = 0;
};

TimedApplication& application()
{
    static int count = 1;
    static char name[] = "bench";
    static char* arguments[] = { name, nullptr };
    qputenv("QT_QPA_PLATFORM", "offscreen");
    static auto* application = new TimedApplication(count, arguments); // Qt wants to outlive the statics
    return *application;
}

void waitUntilSettled(const MainWindow& window)
{
    while (!window.isSettled())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 5);
    QCoreApplication::processEvents();
}

/// A window on 10 million events: to the timeline's first whole picture, then counting, zooming while it counts, the
/// ledger, and back.
void BM_Window(benchmark::State& state)
{
    TimedApplication& app = application();
    registerFonts();
    applyTheme(app, Theme::Dark);
    const support::TemporaryDirectory folder;
    const auto file = folder / "big.rsdb";
    timeline::writeBigRun(file, state.range(0));
    QSettings settings(QString::fromStdString((folder / "settings.ini").string()), QSettings::IniFormat);
    Look look(Theme::Dark);
    for (auto _ : state) {
        MainWindow window(look, settings);
        window.show();
        QCoreApplication::processEvents();
        app.takeLongestMs();
        QElapsedTimer timer;
        timer.start();
        window.open(QString::fromStdString(file.string()));
        window.showView(MainWindow::View::Timeline);
        timeline::TimelineWidget& timeline = window.timelineView();
        while (!timeline.settled())
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 5);
        state.counters["first_frame_ms"] = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        for (const int key : { Qt::Key_W, Qt::Key_D, Qt::Key_S }) {
            for (int i = 0; i < 30; ++i) {
                QKeyEvent event(QEvent::KeyPress, key, Qt::NoModifier);
                QApplication::sendEvent(&timeline, &event);
                QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
            }
        }
        waitUntilSettled(window); // the analysis ends
        state.counters["counted_ms"] = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        state.counters["timeline_event_ms"] = app.takeLongestMs();
        state.SetLabel(app.longest);
        window.showView(MainWindow::View::Overview);
        waitUntilSettled(window);
        state.counters["overview_event_ms"] = app.takeLongestMs();
        timer.restart();
        window.showView(MainWindow::View::Ledger);
        waitUntilSettled(window);
        state.counters["ledger_ms"] = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        state.counters["ledger_event_ms"] = app.takeLongestMs();
    }
}
BENCHMARK(BM_Window)->Arg(10'000'000)->Iterations(1)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace rankscope::app
