#include "app/timeline/core/labels.h"
#include "app/timeline/core/words.h"
#include "app/timeline/draw/draw_timeline.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {
namespace {

constexpr float kGapFromPx = 4; ///< narrower neighbours of one leaf are drawn without the gap between them
constexpr float kEntryMarkFromPx = 12;
constexpr float kEntryMarkPx = 2;
constexpr float kLabelFromHeight = 13;
constexpr float kLongestFromPx = 0.75F; ///< the longest span of a fold stands at full height from here on
constexpr float kHiddenCommunicationPx = 4;
constexpr int kDimmed = 166; ///< of 255: what stands back keeps 35 %

/// Draws the records of one box.
class LanePainter {
public:
    LanePainter(Painter& painter, const Scene& scene, const Box& box, const LaneContent& content)
        : painter_(painter)
        , scene_(scene)
        , box_(box)
        , content_(content)
        , plot_(plotOf(scene))
        , top_(topOf(scene, box))
        , kind_(scene.laneKindOf(box))
        , phaseX_(patternPhase(scene.map))
    {
        if (box.kind == Box::Kind::FoldedRank)
            top_ += std::floor((box.height - kLedgerHeight) / 2);
    }

    void draw()
    {
        for (const FoldRecord& fold : content_.folds)
            drawFold(fold);
        for (std::size_t i = 0; i < content_.spans.size(); ++i)
            drawSpan(content_.spans[i], i + 1 < content_.spans.size() ? &content_.spans[i + 1] : nullptr);
        if (!content_.samples.empty())
            drawCounter();
    }

private:
    const LeafStyle& styleOf(tracing::SpanClass spanClass) const { return leafStyle(leafOf(spanClass), scene_.theme); }

    Rect place(PixelSpan px, int level) const
    {
        const LevelPlace at = placeOf(box_, kind_, level);
        return { px.x0, top_ + at.top, px.x1, top_ + at.top + at.height };
    }

    bool visible(PixelSpan px) const { return px.x1 > plot_.x0 && px.x0 < plot_.x1; }
    Rect visiblePart(Rect rect) const
    {
        return { std::max(rect.x0, plot_.x0), rect.y0, std::min(rect.x1, plot_.x1), rect.y1 };
    }

    void drawFold(const FoldRecord& fold)
    {
        const PixelSpan px = pixelsOf(scene_.map, fold.beginNs, fold.endNs);
        if (!visible(px))
            return;
        Rect rect = place(px, fold.level);
        const float full = rect.height();
        const float high = std::max(std::min(kFoldLeast, full), std::round(full * static_cast<float>(fold.fullness())));
        const LeafStyle& style = styleOf(fold.cover);
        if (!style.filled) { // nothing is known to have run here: no fill may claim it
            painter_.leaf(rect, style, phaseX_);
            return;
        }
        painter_.fill({ rect.x0, rect.y1 - high, rect.x1, rect.y1 }, plainColor(style));
        const auto longestPx = scene_.map.pxOf(static_cast<double>(fold.longestEndNs - fold.longestBeginNs));
        if (longestPx >= static_cast<double>(kLongestFromPx)) {
            const PixelSpan longest = pixelsOf(scene_.map, fold.longestBeginNs, fold.longestEndNs);
            painter_.fill(place(longest, fold.level), plainColor(styleOf(fold.longestClass)));
        }
    }

    bool touchesItsLike(const SpanRecord& span, PixelSpan px, const SpanRecord* next) const
    {
        if (next == nullptr || next->level != span.level || next->spanClass != span.spanClass
            || px.width() < kGapFromPx)
            return false;
        return pixelsOf(scene_.map, next->beginNs, next->endNs).x0 <= px.x1;
    }

    void drawSpan(const SpanRecord& span, const SpanRecord* next)
    {
        PixelSpan px = pixelsOf(scene_.map, span.beginNs, span.endNs);
        if (!visible(px))
            return;
        if (touchesItsLike(span, px, next))
            px.x1 -= 1;
        const Rect rect = place(px, span.level);
        if (span.row == RowKind::Collective)
            drawCollective(span, rect);
        else
            drawLeaf(rect, styleOf(span.spanClass), [&] { return spanLabel(span, *scene_.facts); });
        if (span.overCommunication) {
            const Color transfer = styleOf(tracing::SpanClass::Transfer).fill;
            painter_.fill({ rect.x0, rect.y1 - kHiddenCommunicationPx, rect.x1, rect.y1 }, transfer);
        }
        outline(span, rect);
    }

    void drawCollective(const SpanRecord& span, Rect rect)
    {
        if (span.matched) {
            const auto split
                = static_cast<float>(std::floor(std::clamp(scene_.map.xOf(static_cast<double>(span.splitNs)),
                    static_cast<double>(rect.x0), static_cast<double>(rect.x1))));
            const Rect wait{ rect.x0, rect.y0, split, rect.y1 };
            const Rect transfer{ split, rect.y0, rect.x1, rect.y1 };
            if (wait.width() > 0)
                drawLeaf(wait, styleOf(tracing::SpanClass::Wait), [&] { return waitLabel(span); });
            if (transfer.width() > 0)
                drawLeaf(transfer, styleOf(tracing::SpanClass::Transfer), [&] { return transferLabel(span); });
        } else {
            drawLeaf(rect, styleOf(tracing::SpanClass::Communication), [&] { return spanLabel(span, *scene_.facts); });
        }
        const bool selected = span.instance >= 0 && span.instance == scene_.selection.instance();
        if (rect.width() > kEntryMarkFromPx || selected)
            painter_.fill({ rect.x0, rect.y0, rect.x0 + kEntryMarkPx, rect.y1 }, painter_.role().text);
    }

    template <typename Label> void drawLeaf(Rect rect, const LeafStyle& style, Label label)
    {
        const Rect shown = visiblePart(rect);
        // A border at the canvas' edge would claim that the span ends there.
        const Rect drawn{ std::max(rect.x0, plot_.x0 - 8), rect.y0, std::min(rect.x1, plot_.x1 + 8), rect.y1 };
        painter_.leaf(drawn, style, phaseX_);
        if (shown.width() >= kLabelFromPx && shown.height() >= kLabelFromHeight)
            drawLabel(shown, style, label());
    }

    void drawLabel(Rect shown, const LeafStyle& style, const Wordings& label)
    {
        const TextSize size = shown.height() >= 18 ? TextSize::Label : TextSize::Smallest;
        const std::string text = painter_.fitting(size, label, shown.width() - 2 * kLabelInset);
        if (text.empty())
            return;
        const float x = shown.x0 + kLabelInset;
        const bool hatched = style.pattern != Pattern::Solid;
        const bool needsPlate = hatched && style.pattern != Pattern::Border && style.pattern != Pattern::Dashed;
        if (needsPlate) {
            const float right = x + painter_.textWidth(size, text) + 2;
            painter_.fill({ x - 2, shown.y0 + 2, right, shown.y1 - 2 }, painter_.role().canvas);
        }
        const Color ink = needsPlate || !style.filled ? painter_.role().text : inkOn(style.fill);
        painter_.text(x, shown.y0, shown.y1, size, ink, text);
    }

    void outline(const SpanRecord& span, Rect rect)
    {
        const Selection& selection = scene_.selection;
        const bool sameSpan = selection.hit && selection.hit->span && selection.hit->lane == content_.lane
            && selection.hit->span->beginNs == span.beginNs && selection.hit->span->endNs == span.endNs
            && selection.hit->span->level == span.level;
        // A selected collective's parts get a frame of their own, on every rank.
        const bool selected = span.instance >= 0 && span.instance == selection.instance();
        if ((sameSpan && selection.parts.empty()) || selected) {
            painter_.frame(rect, painter_.role().text, 2);
        } else if (scene_.hover && scene_.hover->span && sameName(span, *scene_.hover->span) && rect.width() >= 3) {
            painter_.frame(rect, painter_.role().text, 1);
        }
    }

    static bool sameName(const SpanRecord& a, const SpanRecord& b)
    {
        if (a.row != b.row)
            return false;
        if (a.row == RowKind::Collective && a.instance >= 0 && a.instance == b.instance)
            return true;
        if (a.row == RowKind::Bubble)
            return a.phase == b.phase;
        return a.name >= 0 && a.name == b.name;
    }

    void drawCounter()
    {
        // From 0 where the values come near it or hardly move; else the range that the label names, or a loss would
        // look flat.
        const bool nearZero = content_.lowest < content_.highest / 2;
        const bool steady = content_.highest - content_.lowest < content_.highest / 20;
        const double base = nearZero || steady ? std::min(0.0, content_.lowest) : content_.lowest;
        const double range = content_.highest - base;
        const float bottom = top_ + box_.height;
        const auto yOf = [&](double value) {
            const double share = range > 0 ? (value - base) / range : 0.5;
            return std::round(bottom - 1 - static_cast<float>(share) * (box_.height - 3));
        };
        const Color line = painter_.role().dim;
        float lastY = -1;
        for (const CounterRecord& sample : content_.samples) {
            const PixelSpan px = pixelsOf(scene_.map, sample.beginNs, sample.endNs);
            const float y = yOf(sample.last);
            if (visible(px)) {
                painter_.fill({ px.x0, y, px.x1, bottom }, line, 70);
                painter_.fill({ px.x0, y, px.x1, y + 1 }, line);
                float highest = yOf(sample.high);
                float lowest = yOf(sample.low);
                if (lastY >= 0) {
                    highest = std::min(highest, lastY);
                    lowest = std::max(lowest, lastY);
                }
                painter_.fill({ px.x0, highest, px.x0 + 1, lowest + 1 }, line);
            }
            lastY = y;
        }
        const std::string label
            = counterRange(content_, box_.lane ? scene_.facts->lanes[*box_.lane].unit : std::string());
        const float width = painter_.textWidth(TextSize::Smallest, label);
        painter_.fill({ plot_.x0 + 2, top_ + 1, plot_.x0 + width + 8, top_ + 15 }, painter_.role().canvas, 200);
        painter_.text(plot_.x0 + 5, top_ + 1, top_ + 15, TextSize::Smallest, painter_.role().dim, label);
    }

    Painter& painter_;
    const Scene& scene_;
    const Box& box_;
    const LaneContent& content_;
    Rect plot_;
    float top_;
    tracing::LaneKind kind_;
    float phaseX_;
};

void drawGround(Painter& painter, const Scene& scene)
{
    const float header = scene.headerHeight();
    for (const Box& box : scene.layout.boxes()) {
        const bool first = box.kind == Box::Kind::RankTitle || box.kind == Box::Kind::FoldedRank;
        if (!first || box.rankOrder % 2 == 0)
            continue;
        const auto [top, bottom] = scene.layout.extentOf(box.rank);
        const float gap = box.kind == Box::Kind::RankTitle ? kLaneGap + kRankGap : 0;
        painter.fill({ 0, header + std::floor(top - scene.scroll), scene.width,
                         header + std::floor(bottom + gap - scene.scroll) },
            painter.role().alternate);
    }
}

/// Lays the ground over what stands back.
void drawDimmed(Painter& painter, const Scene& scene, const Box& box, float top)
{
    const tracing::Window visible = scene.map.window();
    const auto pixelNs = static_cast<std::int64_t>(scene.map.nsPerPx);
    const Color ground = box.rankOrder % 2 == 0 ? painter.role().canvas : painter.role().alternate;
    for (const tracing::Window& part : dimmedParts(scene.emphasis, box.rank, visible, pixelNs)) {
        const PixelSpan px = pixelsOf(scene.map, part.beginNs, part.endNs);
        painter.fill({ px.x0, top, px.x1, top + box.height }, ground, kDimmed);
    }
}

} // namespace

void drawLanes(Painter& painter, const Scene& scene)
{
    drawGround(painter, scene);
    painter.pushClip(plotOf(scene));
    for (const Box& box : scene.layout.boxes()) {
        const float top = topOf(scene, box);
        if (top > scene.height || top + box.height < scene.headerHeight())
            continue;
        if (const LaneContent* content = scene.contentOf(box))
            LanePainter(painter, scene, box, *content).draw();
        if (!scene.emphasis.empty())
            drawDimmed(painter, scene, box, top);
    }
    painter.popClip();
}

} // namespace rankscope::app::timeline
