#include "app/shell/render.h"

#include "app/timeline/timeline_widget.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPixmap>
#include <QStringList>
#include <QTimer>

#include <functional>

namespace rankscope::app {
namespace {

using tracing::Error;
using tracing::Result;

constexpr qint64 kLongestMs = 10 * 60 * 1000;
constexpr int kLookMs = 20;
constexpr QSize kLeastSize(800, 500); ///< the window's own least size

/// Lets Qt work until the condition holds, and then until all that follows from it is laid out.
bool waitFor(const std::function<bool()>& condition)
{
    QElapsedTimer clock;
    clock.start();
    QTimer tick; // so that waiting for events ends now and then
    tick.start(kLookMs);
    while (!condition()) {
        if (clock.elapsed() > kLongestMs)
            return false;
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents);
    }
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents();
    return true;
}

Error wrong(const char* option, const QString& value, const char* allowed)
{
    return Error(std::string(option) + " " + value.toStdString() + ": expected " + allowed);
}

/// Two whole numbers around a colon, the first not above the second.
std::optional<std::pair<std::int64_t, std::int64_t>> parsePair(const QString& text)
{
    const QStringList parts = text.split(QLatin1Char(':'));
    if (parts.size() != 2)
        return std::nullopt;
    bool beginOk = false;
    bool endOk = false;
    const std::int64_t begin = parts[0].trimmed().toLongLong(&beginOk);
    const std::int64_t end = parts[1].trimmed().toLongLong(&endOk);
    if (!beginOk || !endOk || begin > end)
        return std::nullopt;
    return std::pair{ begin, end };
}

} // namespace

Result<WindowChoice> parseWindow(const QString& text)
{
    const bool steps = text.startsWith(QLatin1String("steps"));
    const auto pair = parsePair(steps ? text.mid(6) : text);
    if (!pair || (!steps && pair->first == pair->second))
        return wrong("--window", text, "BEGIN:END in ns, or \"steps A:B\"");
    WindowChoice choice;
    if (steps)
        choice.steps = tracing::StepRange{ pair->first, pair->second };
    else
        choice.window = tracing::Window{ pair->first, pair->second };
    return choice;
}

Result<QSize> parseSize(const QString& text)
{
    const QStringList parts = text.split(QLatin1Char('x'));
    const QSize size = parts.size() == 2 ? QSize(parts[0].toInt(), parts[1].toInt()) : QSize();
    if (size.width() < kLeastSize.width() || size.height() < kLeastSize.height() || size.width() > 16384
        || size.height() > 16384)
        return wrong("--size", text, "WIDTHxHEIGHT from 800x500 to 16384x16384");
    return size;
}

Result<MainWindow::View> parseView(const QString& text)
{
    if (text == QLatin1String("overview"))
        return MainWindow::View::Overview;
    if (text == QLatin1String("timeline"))
        return MainWindow::View::Timeline;
    if (text == QLatin1String("ledger"))
        return MainWindow::View::Ledger;
    if (text == QLatin1String("losses"))
        return MainWindow::View::Losses;
    if (text == QLatin1String("welcome"))
        return MainWindow::View::Welcome;
    return wrong("--view", text, "overview, timeline, ledger, losses or welcome");
}

Result<Theme> parseTheme(const QString& text)
{
    if (text == QLatin1String("dark"))
        return Theme::Dark;
    if (text == QLatin1String("light"))
        return Theme::Light;
    return wrong("--theme", text, "dark or light");
}

namespace {

/// Opens the input in the window and waits until all that it shows is read and counted.
tracing::Status show(MainWindow& window, const QString& input, const RenderOptions& options)
{
    tracing::AnalysisOptions analysis;
    analysis.steps = options.window.steps;
    analysis.window = options.window.window;
    window.analysis().setOptions(analysis);
    window.open(input);
    window.showView(options.view);
    const bool counted = waitFor([&] { return window.analysis().result() || !window.failure().isEmpty(); });
    if (!window.failure().isEmpty())
        return Error(window.failure().toStdString());
    if (counted && (options.window.steps || options.window.window))
        window.timelineView().showWindow(window.analysis().result()->window);
    if (!counted || !waitFor([&] { return window.isSettled(); }))
        return Error("draw " + input.toStdString() + ": it was not read and counted within 10 minutes");
    return tracing::Done{};
}

} // namespace

tracing::Status renderToFile(MainWindow& window, const QString& input, const RenderOptions& options)
{
    window.resize(options.size);
    window.show();
    if (options.view == MainWindow::View::Welcome)
        waitFor([] { return true; });
    else if (const auto shown = show(window, input, options); !shown)
        return shown.error();
    if (!window.grab().save(options.output))
        return Error("write " + options.output.toStdString()
            + ": cannot be written as a picture; name a .png in a folder that exists");
    return tracing::Done{};
}

} // namespace rankscope::app
