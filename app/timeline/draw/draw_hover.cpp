#include "app/timeline/core/labels.h"
#include "app/timeline/draw/draw_timeline.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {

void drawHover(Painter& painter, const Scene& scene)
{
    if (!scene.hover)
        return;
    const std::vector<std::string> lines = hoverLines(*scene.hover, *scene.facts);
    if (lines.empty())
        return;
    constexpr float padding = 8;
    constexpr float lineHeight = 18;
    constexpr float widest = 480;
    std::vector<std::string> shown;
    float width = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const TextSize size = i == 0 ? TextSize::Body : TextSize::Label;
        shown.push_back(painter.elided(size, lines[i], widest));
        width = std::max(width, painter.textWidth(size, shown.back()));
    }
    const float w = std::ceil(width) + 2 * padding;
    const float h = static_cast<float>(lines.size()) * lineHeight + 2 * padding - 4;
    // Below and right of the pointer; on the other side where there is no room.
    float x = scene.hoverX + 14;
    float y = scene.hoverY + 18;
    if (x + w > scene.width - 4)
        x = std::max(4.0F, scene.hoverX - 10 - w);
    if (y + h > scene.height - 4)
        y = std::max(4.0F, scene.hoverY - 10 - h);
    const Rect box{ std::floor(x), std::floor(y), std::floor(x) + w, std::floor(y) + h };
    painter.fill(box, painter.role().panel);
    painter.frame(box, painter.role().dim);
    float top = box.y0 + padding - 2;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        painter.text(box.x0 + padding, top, top + lineHeight, i == 0 ? TextSize::Body : TextSize::Label,
            i == 0 ? painter.role().text : painter.role().dim, shown[i]);
        top += lineHeight;
    }
}

} // namespace rankscope::app::timeline
