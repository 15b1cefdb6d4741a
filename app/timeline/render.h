#pragma once

#include "app/session/palette.h"
#include "tracing/model/result.h"
#include "tracing/model/rows.h"

#include <QImage>
#include <QSize>

#include <optional>
#include <string>

namespace rankscope::app {

/// The timeline of a run file as a picture: reads on the calling thread, needs no display. window: none shows the whole
/// run.
tracing::Result<QImage> renderTimeline(
    const std::string& path, QSize size, std::optional<tracing::Window> window, Theme theme);

} // namespace rankscope::app
