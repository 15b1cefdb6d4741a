#pragma once

#include "tracing/model/rows.h"

#include <cstdint>

namespace rankscope::app::timeline {

/// Maps the run's clock to pixels of the canvas. Doubles hold ns exactly up to 104 days, and let a pan at the deepest
/// zoom move by less than a nanosecond.
struct TimeMap {
    double beginNs = 0; ///< time at the left edge
    double nsPerPx = 1;
    double leftPx = 0; ///< where the plot begins: right of the title column
    double widthPx = 1;

    static TimeMap fit(tracing::Window window, double leftPx, double widthPx);

    double xOf(double ns) const { return leftPx + (ns - beginNs) / nsPerPx; }
    double nsAt(double x) const { return beginNs + (x - leftPx) * nsPerPx; }
    double endNs() const { return beginNs + widthPx * nsPerPx; }
    double spanNs() const { return widthPx * nsPerPx; }
    double pxOf(double durationNs) const { return durationNs / nsPerPx; }
    tracing::Window window() const; ///< what is visible, rounded outwards

    /// factor < 1 zooms in; the time under x stays there.
    TimeMap zoomedAt(double x, double factor) const;
    TimeMap pannedBy(double px) const; ///< positive: later times come into view
    TimeMap resized(double newLeftPx, double newWidthPx) const; ///< keeps the visible window

    /// Keeps the view useful: between 100 ns and twice the run wide, and never without a part of the run.
    TimeMap clampedTo(tracing::Window run) const;

    bool operator==(const TimeMap&) const = default;
};

} // namespace rankscope::app::timeline
