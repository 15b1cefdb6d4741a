#include "app/timeline/core/labels.h"
#include "app/timeline/draw/draw_timeline.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {
namespace {

constexpr float kChevronPx = 8;
constexpr float kRankX = kTitlePadding + kChevronPx + 4;

void drawRankTitle(Painter& painter, const Scene& scene, const Box& box, float top)
{
    const Roles& role = painter.role();
    const float bottom = top + box.height;
    const float middle = std::floor((top + bottom) / 2);
    if (box.kind == Box::Kind::FoldedRank)
        painter.rightTriangle(kTitlePadding + kChevronPx - 1, middle, kChevronPx, role.dim);
    else
        painter.downTriangle(kTitlePadding + kChevronPx / 2, middle + 3, kChevronPx, role.dim);
    const std::string name = "rank " + std::to_string(box.rank);
    painter.text(kRankX, top, bottom, TextSize::Title, role.text, name);
    const auto found = std::find_if(scene.facts->ranks.begin(), scene.facts->ranks.end(),
        [&](const tracing::RankInfo& rank) { return rank.rank == box.rank; });
    if (found == scene.facts->ranks.end())
        return;
    const float left = kRankX + painter.textWidth(TextSize::Title, name) + 8;
    const auto late = scene.lateCounts.find(box.rank);
    const Wordings words = rankTags(*found, late == scene.lateCounts.end() ? 0 : late->second);
    const std::string tags = painter.fitting(TextSize::Smallest, words, kTitleWidth - kTitlePadding - left);
    const float x = kTitleWidth - kTitlePadding - painter.textWidth(TextSize::Smallest, tags);
    painter.text(x, top, bottom, TextSize::Smallest, role.dim, tags);
}

} // namespace

void drawTitles(Painter& painter, const Scene& scene)
{
    const float header = scene.headerHeight();
    painter.pushClip({ 0, header, kTitleWidth, scene.height });
    for (const Box& box : scene.layout.boxes()) {
        const float top = topOf(scene, box);
        if (top > scene.height || top + box.height < header)
            continue;
        if (box.kind == Box::Kind::RankTitle || box.kind == Box::Kind::FoldedRank) {
            drawRankTitle(painter, scene, box, top);
            continue;
        }
        const std::string title = box.kind == Box::Kind::Ledger ? "ledger" : laneTitle(scene.facts->lanes[*box.lane]);
        const float x = kRankX + kTitleIndent;
        // Names of deep host lanes stand beside the first row, not in the middle.
        const float height
            = box.levels > 1 && scene.laneKindOf(box) == tracing::LaneKind::Host ? kHostRowHeight : box.height;
        painter.text(x, top, top + height, TextSize::Label, painter.role().dim,
            painter.elided(TextSize::Label, title, kTitleWidth - kTitlePadding - x));
    }
    painter.popClip();
}

} // namespace rankscope::app::timeline
