#include "app/timeline/core/ticks.h"
#include "app/timeline/core/words.h"
#include "app/timeline/draw/draw_timeline.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {
namespace {

constexpr float kTickFromPx = 110;

void drawMinimapColumns(Painter& painter, const Scene& scene, Rect area)
{
    const Minimap& minimap = *scene.minimap;
    const Color compute = leafStyle(Leaf::Compute, scene.theme).fill;
    const Color waiting = leafStyle(Leaf::Wait, scene.theme).fill;
    // The map may have been made for an earlier, shorter state of a growing run.
    const TimeMap map
        = TimeMap::fit(scene.facts->window, static_cast<double>(area.x0), static_cast<double>(area.width()));
    const auto columns = minimap.compute.size();
    const double columnNs = static_cast<double>(minimap.window.durationNs()) / static_cast<double>(columns);
    const auto edge = [&](std::size_t column) {
        const double ns = static_cast<double>(minimap.window.beginNs) + static_cast<double>(column) * columnNs;
        return static_cast<float>(std::round(map.xOf(ns)));
    };
    for (std::size_t i = 0; i < columns; ++i) {
        const float x0 = edge(i);
        const float x1 = edge(i + 1);
        const float high = std::round(minimap.compute[i] * area.height());
        const float higher = std::round((minimap.compute[i] + minimap.waiting[i]) * area.height());
        painter.fill({ x0, area.y1 - high, x1, area.y1 }, compute);
        painter.fill({ x0, area.y1 - higher, x1, area.y1 - high }, waiting);
    }
}

void drawMinimap(Painter& painter, const Scene& scene)
{
    const Roles& role = painter.role();
    painter.fill({ 0, 0, scene.width, kMinimapHeight }, role.panel);
    const tracing::Window run = scene.facts->window;
    if (run.durationNs() <= 0)
        return;
    painter.text(
        kTitlePadding, 0, kMinimapHeight, TextSize::Smallest, role.dim, "whole run " + durationText(run.durationNs()));
    const Rect area{ kTitleWidth, 3, scene.width - kRightMargin, kMinimapHeight - 3 };
    painter.pushClip({ kTitleWidth, 0, scene.width, kMinimapHeight });
    if (scene.minimap && !scene.minimap->compute.empty())
        drawMinimapColumns(painter, scene, area);
    const TimeMap whole = TimeMap::fit(run, static_cast<double>(area.x0), static_cast<double>(area.width()));
    const auto at = [&](double ns) {
        const double x = std::clamp(whole.xOf(ns), static_cast<double>(area.x0), static_cast<double>(area.x1));
        return static_cast<float>(std::floor(x));
    };
    const float x0 = at(scene.map.beginNs);
    const float x1 = std::max(x0 + 3, at(scene.map.endNs()));
    painter.fill({ area.x0, 0, x0, kMinimapHeight }, role.panel, 150);
    painter.fill({ x1, 0, area.x1, kMinimapHeight }, role.panel, 150);
    painter.frame({ x0, 1, x1, kMinimapHeight - 1 }, role.text);
    painter.popClip();
}

void drawRuler(Painter& painter, const Scene& scene, float top)
{
    const Roles& role = painter.role();
    const float bottom = top + kRulerHeight;
    painter.fill({ 0, top, scene.width, bottom }, role.panel);
    painter.pushClip({ kTitleWidth, top, scene.width, bottom });
    for (const Tick& tick : rulerTicks(scene.map, static_cast<double>(kTickFromPx))) {
        const auto x = static_cast<float>(std::floor(scene.map.xOf(tick.ns)));
        if (tick.text.empty()) {
            painter.fill({ x, bottom - 4, x + 1, bottom }, role.line);
            continue;
        }
        painter.fill({ x, bottom - 8, x + 1, bottom }, role.dim);
        if (x >= kTitleWidth && x + 4 < scene.width - kRightMargin)
            painter.text(x + 4, top, bottom - 6, TextSize::Label, role.dim, tick.text);
    }
    painter.popClip();
}

struct BandCell {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::vector<std::string> wordings;
};

void drawBandCell(Painter& painter, const Scene& scene, float top, const BandCell& cell)
{
    const PixelSpan px = pixelsOf(scene.map, cell.beginNs, cell.endNs);
    if (px.x1 < kTitleWidth || px.x0 > scene.width)
        return;
    const Rect rect{ px.x0, top + 1, std::max(px.x0 + 1, px.x1 - 1), top + kBandHeight - 2 };
    painter.frame(rect, painter.role().line);
    const float x0 = std::max(rect.x0, kTitleWidth) + kLabelInset;
    const float room = std::min(rect.x1, scene.width) - kLabelInset - x0;
    const std::string text = painter.fitting(TextSize::Label, cell.wordings, room);
    if (!text.empty())
        painter.text(x0, rect.y0, rect.y1, TextSize::Label, painter.role().text, text);
}

void drawBand(Painter& painter, const Scene& scene, float top, const char* title, const std::vector<BandCell>& cells)
{
    painter.fill({ 0, top, scene.width, top + kBandHeight }, painter.role().canvas);
    painter.text(kTitlePadding, top, top + kBandHeight, TextSize::Label, painter.role().dim, title);
    painter.pushClip({ kTitleWidth, top, scene.width, top + kBandHeight });
    for (const BandCell& cell : cells)
        drawBandCell(painter, scene, top, cell);
    painter.popClip();
}

std::vector<BandCell> stepCells(const Scene& scene)
{
    std::vector<BandCell> cells;
    const double leastNs = 2 * scene.map.nsPerPx;
    for (const tracing::Step& step : scene.facts->steps) {
        const bool outside = static_cast<double>(step.endNs) < scene.map.beginNs
            || static_cast<double>(step.beginNs) > scene.map.endNs();
        const bool hidden = !cells.empty() && static_cast<double>(step.endNs - cells.back().beginNs) < leastNs;
        if (outside || hidden)
            continue;
        const std::string name = "step " + std::to_string(step.step);
        cells.push_back({ step.beginNs, step.endNs,
            { name + "   " + durationText(step.endNs - step.beginNs), name, std::to_string(step.step), "" } });
    }
    return cells;
}

std::vector<BandCell> microBatchCells(const Scene& scene)
{
    std::vector<BandCell> cells;
    for (const SpanRecord& span : *scene.microBatches) {
        const std::string time = durationText(span.durationNs());
        if (span.microBatch) {
            const std::string number = std::to_string(*span.microBatch);
            cells.push_back({ span.beginNs, span.endNs, { number + "   " + time, number, "" } });
        } else {
            cells.push_back({ span.beginNs, span.endNs, { time, "" } });
        }
    }
    return cells;
}

} // namespace

void drawHeader(Painter& painter, const Scene& scene)
{
    drawMinimap(painter, scene);
    float top = kMinimapHeight;
    drawRuler(painter, scene, top);
    top += kRulerHeight;
    if (!scene.facts->steps.empty()) {
        drawBand(painter, scene, top, "step", stepCells(scene));
        top += kBandHeight;
    }
    if (scene.microBatches && !scene.microBatches->empty())
        drawBand(painter, scene, top, "micro-batch", microBatchCells(scene));
}

} // namespace rankscope::app::timeline
