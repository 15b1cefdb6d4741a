#include "app/timeline/core/words.h"
#include "app/timeline/draw/draw_timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace rankscope::app::timeline {
namespace {

constexpr float kTrianglePx = 12;
constexpr float kLateFromPx = 24; ///< a lateness narrower than that is no mark
constexpr float kWhiskerFromPx = 3;
constexpr float kCapPx = 5;

/// One mark on a rank's title row: "v late 1.00 s".
struct LateMark {
    float x = 0;
    std::int64_t lateNs = 0;
    bool selected = false;
};

using LateMarks = std::map<std::int32_t, std::vector<LateMark>>; ///< by the late rank

/// The others' waits tell who was late: the late rank's own part is often too short to be seen.
void addWaits(const Scene& scene, const LaneContent& content, std::map<std::int64_t, SpanRecord>& longest)
{
    for (const SpanRecord& span : content.spans) {
        const std::int64_t waitNs = span.splitNs - span.beginNs;
        // A pipeline's waits for its neighbours are its bubbles, not somebody's lateness.
        if (!span.matched || !span.lateRank || tracing::isPointToPoint(span.op)
            || scene.map.pxOf(static_cast<double>(waitNs)) < static_cast<double>(kLateFromPx))
            continue;
        SpanRecord& known = longest.try_emplace(span.instance, span).first->second;
        if (waitNs > known.splitNs - known.beginNs)
            known = span;
    }
}

LateMarks lateMarksOf(const Scene& scene)
{
    std::map<std::int64_t, SpanRecord> longest; ///< by instance
    for (const auto& [lane, content] : scene.contents)
        addWaits(scene, *content, longest);
    LateMarks marks;
    const std::optional<tracing::CollectiveMatch>& match = scene.selection.match;
    for (const auto& [instance, span] : longest) {
        if (!match || raw(match->id) != instance)
            marks[*span.lateRank].push_back(
                { pixelsOf(scene.map, span.splitNs, span.splitNs).x0, span.splitNs - span.beginNs, false });
    }
    if (match && match->lateRank) {
        marks[*match->lateRank].push_back({ pixelsOf(scene.map, match->lastEntryNs, match->lastEntryNs).x0,
            match->lastEntryNs - match->firstEntryNs, true });
    }
    for (auto& [rank, ofRank] : marks) {
        std::sort(ofRank.begin(), ofRank.end(), [](const LateMark& a, const LateMark& b) {
            return a.selected != b.selected ? a.selected : a.lateNs > b.lateNs;
        });
    }
    return marks;
}

/// The selected one first, then the longest; one that would cover another is left out.
void drawLateMarks(Painter& painter, const Scene& scene, const Box& box, const std::vector<LateMark>& marks)
{
    const Rect plot = plotOf(scene);
    const float top = topOf(scene, box);
    const Color color = painter.role().text;
    std::vector<std::pair<float, float>> taken;
    for (const LateMark& mark : marks) {
        if (mark.x < plot.x0 || mark.x > plot.x1)
            continue;
        const std::string text = "late " + durationText(mark.lateNs);
        const float half = kTrianglePx / 2;
        const float needed = painter.textWidth(TextSize::Label, text) + 4;
        const auto isFree = [&](float from, float to) {
            return from >= plot.x0 && to <= plot.x1 && std::none_of(taken.begin(), taken.end(), [&](const auto& other) {
                return from < other.second && to > other.first;
            });
        };
        float left = mark.x - half;
        float right = mark.x + half;
        std::optional<float> textX;
        if (isFree(left, right + needed)) {
            textX = right + 4;
            right += needed;
        } else if (isFree(left - needed, right)) {
            textX = left - needed;
            left -= needed;
        } else if (!isFree(std::max(left, plot.x0), std::min(right, plot.x1))) {
            continue;
        }
        taken.emplace_back(left - 2, right + 6);
        painter.downTriangle(mark.x, top + box.height - 3, kTrianglePx, color);
        if (textX)
            painter.text(*textX, top, top + box.height, TextSize::Label, color, text);
    }
}

const Box* boxOfLane(const Scene& scene, tracing::LaneId lane)
{
    for (const Box& box : scene.layout.boxes()) {
        if (box.kind == Box::Kind::Lane && scene.facts->lanes[*box.lane].id == lane)
            return &box;
    }
    return nullptr;
}

void drawWhisker(Painter& painter, const Scene& scene, const SelectedPart& part, float middle)
{
    const auto rank = std::find_if(scene.facts->ranks.begin(), scene.facts->ranks.end(),
        [&](const tracing::RankInfo& info) { return info.rank == part.rank; });
    if (rank == scene.facts->ranks.end() || rank->clockErrorNs <= 0)
        return;
    const std::int64_t entry = part.part.beginNs;
    const PixelSpan px = pixelsOf(scene.map, entry - rank->clockErrorNs, entry + rank->clockErrorNs);
    if (px.width() < kWhiskerFromPx)
        return;
    const Color color = painter.role().text;
    const float cap = std::floor(kCapPx / 2);
    painter.fill({ px.x0, middle, px.x1, middle + 1 }, color);
    painter.fill({ px.x0, middle - cap, px.x0 + 1, middle + cap + 1 }, color);
    painter.fill({ px.x1 - 1, middle - cap, px.x1, middle + cap + 1 }, color);
}

/// Whether the lane has drawn the part by itself, and with it its frame.
bool isDrawn(const Scene& scene, const Box& box, const SelectedPart& part)
{
    const LaneContent* content = scene.contentOf(box);
    return content != nullptr && std::any_of(content->spans.begin(), content->spans.end(), [&](const SpanRecord& span) {
        return span.instance == raw(part.part.instance);
    });
}

/// The same collective on every rank, also where a fold hides it.
void drawSelectedParts(Painter& painter, const Scene& scene)
{
    for (const SelectedPart& part : scene.selection.parts) {
        const Box* box = boxOfLane(scene, part.part.lane);
        if (box == nullptr)
            continue;
        const PixelSpan px = pixelsOf(scene.map, part.part.beginNs, part.part.endNs);
        const float top = topOf(scene, *box);
        if (!isDrawn(scene, *box, part))
            painter.frame({ px.x0 - 2, top - 2, px.x1 + 2, top + box->height + 2 }, painter.role().text, 2);
        drawWhisker(painter, scene, part, std::floor(top + box->height / 2));
    }
}

void drawArea(Painter& painter, const Scene& scene, double fromNs, double toNs)
{
    const Rect plot = plotOf(scene);
    const auto x0 = static_cast<float>(std::floor(scene.map.xOf(std::min(fromNs, toNs))));
    const auto x1 = static_cast<float>(std::floor(scene.map.xOf(std::max(fromNs, toNs))));
    const Color color = painter.role().link;
    painter.fill({ x0, plot.y0, x1, plot.y1 }, color, 40);
    painter.fill({ x0, plot.y0, x0 + 1, plot.y1 }, color);
    painter.fill({ x1, plot.y0, x1 + 1, plot.y1 }, color);
    const std::string text = durationText(std::llround(std::abs(toNs - fromNs)));
    const float width = painter.textWidth(TextSize::Label, text);
    const float x = std::clamp((x0 + x1 - width) / 2, plot.x0 + 4, std::max(plot.x0 + 4, plot.x1 - width - 4));
    painter.fill({ std::floor(x) - 4, plot.y0 + 2, std::floor(x) + width + 4, plot.y0 + 20 }, painter.role().canvas);
    painter.text(std::floor(x), plot.y0 + 2, plot.y0 + 20, TextSize::Label, painter.role().text, text);
}

void drawLiveHead(Painter& painter, const Scene& scene)
{
    const Rect plot = plotOf(scene);
    const double at = scene.map.xOf(static_cast<double>(*scene.liveHeadNs));
    if (at < static_cast<double>(plot.x0) || at > static_cast<double>(plot.x1))
        return;
    const auto x = static_cast<float>(std::floor(at));
    painter.fill({ x + 1, plot.y0, plot.x1, plot.y1 }, painter.role().canvas);
    painter.fill({ x, plot.y0, x + 1, plot.y1 }, painter.role().link);
    if (!scene.behindNs)
        return;
    const std::string text = durationText(std::max<std::int64_t>(0, *scene.behindNs)) + " behind";
    const float width = painter.textWidth(TextSize::Smallest, text);
    float left = x + 5;
    if (left + width > plot.x1 - 4) {
        left = x - 5 - width;
        painter.fill({ left - 3, plot.y0 + 1, left + width + 3, plot.y0 + 17 }, painter.role().canvas);
    }
    painter.text(left, plot.y0 + 1, plot.y0 + 17, TextSize::Smallest, painter.role().link, text);
}

} // namespace

void drawMarks(Painter& painter, const Scene& scene)
{
    painter.pushClip(plotOf(scene));
    const LateMarks late = lateMarksOf(scene);
    for (const Box& box : scene.layout.boxes()) {
        const float top = topOf(scene, box);
        const auto marks = late.find(box.rank);
        if (marks != late.end() && box.kind == Box::Kind::RankTitle && top < scene.height
            && top + box.height > scene.headerHeight())
            drawLateMarks(painter, scene, box, marks->second);
    }
    drawSelectedParts(painter, scene);
    if (scene.liveHeadNs)
        drawLiveHead(painter, scene);
    if (scene.area)
        drawArea(painter, scene, scene.area->fromNs, scene.area->toNs);
    else if (scene.selection.area)
        drawArea(painter, scene, static_cast<double>(scene.selection.area->beginNs),
            static_cast<double>(scene.selection.area->endNs));
    painter.popClip();
}

} // namespace rankscope::app::timeline
