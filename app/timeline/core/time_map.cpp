#include "app/timeline/core/time_map.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {
namespace {

constexpr double kNarrowestNs = 100;

} // namespace

TimeMap TimeMap::fit(tracing::Window window, double leftPx, double widthPx)
{
    const double width = std::max(1.0, widthPx);
    const double span = std::max(kNarrowestNs, static_cast<double>(window.durationNs()));
    return { static_cast<double>(window.beginNs), span / width, leftPx, width };
}

tracing::Window TimeMap::window() const
{
    return { static_cast<std::int64_t>(std::floor(beginNs)), static_cast<std::int64_t>(std::ceil(endNs())) };
}

TimeMap TimeMap::zoomedAt(double x, double factor) const
{
    TimeMap map = *this;
    map.nsPerPx = std::max(nsPerPx * factor, kNarrowestNs / widthPx);
    map.beginNs = nsAt(x) - (x - leftPx) * map.nsPerPx;
    return map;
}

TimeMap TimeMap::pannedBy(double px) const
{
    TimeMap map = *this;
    map.beginNs += px * nsPerPx;
    return map;
}

TimeMap TimeMap::resized(double newLeftPx, double newWidthPx) const
{
    const double width = std::max(1.0, newWidthPx);
    return { beginNs, spanNs() / width, newLeftPx, width };
}

TimeMap TimeMap::clampedTo(tracing::Window run) const
{
    TimeMap map = *this;
    const double runNs = std::max(kNarrowestNs, static_cast<double>(run.durationNs()));
    map.nsPerPx = std::clamp(nsPerPx, kNarrowestNs / widthPx, 2 * runNs / widthPx);
    const double margin = map.spanNs() / 2; // at least half of the canvas stays over the run
    const double first = static_cast<double>(run.beginNs) - margin;
    const double last = std::max(first, static_cast<double>(run.endNs) - margin);
    map.beginNs = std::clamp(map.beginNs, first, last);
    return map;
}

} // namespace rankscope::app::timeline
