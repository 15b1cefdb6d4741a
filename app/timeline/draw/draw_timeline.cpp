#include "app/timeline/draw/draw_timeline.h"

#include <cmath>

namespace rankscope::app::timeline {

Rect plotOf(const Scene& scene)
{
    return { kTitleWidth, scene.headerHeight(), scene.width - kRightMargin, scene.height };
}

float topOf(const Scene& scene, const Box& box) { return scene.headerHeight() + std::floor(box.top - scene.scroll); }

float patternPhase(const TimeMap& map)
{
    constexpr double commonPeriod = 840; // of all pitches up to 8
    return static_cast<float>(std::fmod(std::floor(map.xOf(0)), commonPeriod));
}

void drawTimeline(Painter& painter, const Scene& scene)
{
    painter.fill({ 0, 0, scene.width, scene.height }, painter.role().canvas);
    const Rect plot = plotOf(scene);
    painter.pushClip({ 0, plot.y0, scene.width, scene.height });
    drawLanes(painter, scene);
    drawMarks(painter, scene);
    drawTitles(painter, scene);
    painter.popClip();
    drawHeader(painter, scene);
    drawHover(painter, scene);
}

} // namespace rankscope::app::timeline
