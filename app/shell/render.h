#pragma once

#include "app/session/palette.h"
#include "app/shell/main_window.h"
#include "tracing/analysis/step_series.h"
#include "tracing/model/result.h"
#include "tracing/model/rows.h"

#include <QSize>
#include <QString>

#include <optional>

namespace rankscope::app {

/// What --window says: a stretch in ns, or steps.
struct WindowChoice {
    std::optional<tracing::Window> window;
    std::optional<tracing::StepRange> steps;
};

/// "1000:2000", or "steps 3:5".
tracing::Result<WindowChoice> parseWindow(const QString& text);
tracing::Result<QSize> parseSize(const QString& text); ///< "1600x900"
tracing::Result<MainWindow::View> parseView(const QString& text);
tracing::Result<Theme> parseTheme(const QString& text);

struct RenderOptions {
    QString output; ///< .png
    QSize size{ 1600, 900 };
    MainWindow::View view = MainWindow::View::Overview;
    WindowChoice window{};
};

/// Opens the file in the window, waits until all is counted, and draws it into a picture. Needs no display. The welcome
/// page needs no input.
tracing::Status renderToFile(MainWindow& window, const QString& input, const RenderOptions& options);

} // namespace rankscope::app
