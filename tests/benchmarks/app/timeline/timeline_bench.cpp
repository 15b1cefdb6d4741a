#include "app/session/fonts.h"
#include "app/timeline/draw/imgui_frame.h"
#include "app/timeline/draw/painter.h"
#include "app/timeline/present/raster_presenter.h"
#include "app/timeline/timeline_widget.h"
#include "tests/app/timeline/big_run.h"
#include "tests/support/temporary_directory.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QKeyEvent>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>

namespace rankscope::app::timeline {
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
        const bool handled = QApplication::notify(receiver, event);
        longestNs = std::max(longestNs, threadCpuNs() - from);
        --depth_;
        return handled;
    }

    qint64 longestNs = 0; ///< of the thread's own CPU time: other programs' load is not our stutter

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

std::unique_ptr<FontAtlas> fonts()
{
    const QByteArray regular = regularFont();
    const QByteArray medium = mediumFont();
    return std::make_unique<FontAtlas>(std::span(regular.data(), static_cast<std::size_t>(regular.size())),
        std::span(medium.data(), static_cast<std::size_t>(medium.size())), 1.0F);
}

/// 10,000 rectangles of 1 to 12 px and 1,000 labels of twelve letters on 1600 x 900.
void BM_RasterFrame(benchmark::State& state)
{
    ImguiFrame frame(fonts());
    const PatternTextures patterns;
    RasterPresenter presenter;
    ImDrawList& list = frame.begin(1600, 900, 1);
    Painter painter(list, frame.fonts(), patterns, Theme::Dark);
    for (int i = 0; i < 10'000; ++i) {
        const auto x = static_cast<float>(i * 7919 % 1580);
        const auto y = static_cast<float>(i * 104'729 % 880);
        painter.fill({ x, y, x + static_cast<float>(1 + i % 12), y + 20 }, rgb(0x449BEB));
    }
    for (int i = 0; i < 1000; ++i) {
        const auto x = static_cast<float>(i * 7919 % 1500);
        const auto y = static_cast<float>(i * 104'729 % 880);
        painter.text(x, y, y + 20, TextSize::Label, rgb(0xFFFFFF), "W 1.00 s for");
    }
    const ImDrawData& data = frame.end();
    for (auto _ : state)
        presenter.present(data);
}
BENCHMARK(BM_RasterFrame)->Unit(benchmark::kMillisecond);

void BM_FontAtlas(benchmark::State& state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(fonts());
}
BENCHMARK(BM_FontAtlas)->Unit(benchmark::kMillisecond);

void waitFor(const TimelineWidget& widget)
{
    while (!widget.settled())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 5);
}

/// Opens 10 million kernels and zooms from the whole run to single kernels, then out again.
void BM_TenMillionEvents(benchmark::State& state)
{
    TimedApplication& app = application();
    const support::TemporaryDirectory folder;
    const auto file = folder / "big.rsdb";
    writeBigRun(file, state.range(0));
    double firstFrameMs = 0;
    double settleMs = 0;
    int zooms = 0;
    for (auto _ : state) {
        TimelineWidget widget;
        widget.resize(1600, 900);
        widget.show();
        QElapsedTimer timer;
        timer.start();
        app.longestNs = 0;
        widget.openFile(QString::fromStdString(file.string()));
        waitFor(widget);
        firstFrameMs = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        for (const int key : { Qt::Key_W, Qt::Key_S }) {
            for (int i = 0; i < 50; ++i, ++zooms) {
                timer.restart();
                QKeyEvent event(QEvent::KeyPress, key, Qt::NoModifier);
                QApplication::sendEvent(&widget, &event);
                waitFor(widget);
                settleMs += static_cast<double>(timer.nsecsElapsed()) / 1e6;
            }
        }
    }
    state.counters["first_frame_ms"] = firstFrameMs;
    state.counters["ms_per_zoom"] = settleMs / zooms;
    state.counters["longest_event_cpu_ms"] = static_cast<double>(app.longestNs) / 1e6;
}
BENCHMARK(BM_TenMillionEvents)->Arg(10'000'000)->Iterations(1)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace rankscope::app::timeline
