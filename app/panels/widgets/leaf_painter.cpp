#include "app/panels/widgets/leaf_painter.h"

#include "app/session/look.h"

namespace rankscope::app {
namespace {

constexpr int kLeastPatternPx = 6;
constexpr int kLabelPadding = 4;

void paintLines(QPainter& painter, const QRect& area, const LeafStyle& style)
{
    painter.setPen(QPen(toQColor(style.ink), style.lineWidth));
    const int height = area.height();
    const bool slanted
        = style.pattern == Pattern::Slash || style.pattern == Pattern::Backslash || style.pattern == Pattern::Cross;
    painter.setRenderHint(QPainter::Antialiasing, slanted);
    const auto rising = [&](int x) { painter.drawLine(x, area.bottom() + 1, x + height, area.top()); };
    const auto falling = [&](int x) { painter.drawLine(x, area.top(), x + height, area.bottom() + 1); };
    for (int x = area.left() - (slanted ? height : 0); x <= area.right(); x += style.pitchX) {
        if (style.pattern == Pattern::Slash || style.pattern == Pattern::Cross)
            rising(x);
        if (style.pattern == Pattern::Backslash || style.pattern == Pattern::Cross)
            falling(x);
        if (style.pattern == Pattern::VerticalLines || style.pattern == Pattern::Grid)
            painter.drawLine(x, area.top(), x, area.bottom());
    }
    if (style.pattern == Pattern::HorizontalLines || style.pattern == Pattern::Grid) {
        for (int y = area.top(); y <= area.bottom(); y += style.pitchY)
            painter.drawLine(area.left(), y, area.right(), y);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void paintDots(QPainter& painter, const QRect& area, const LeafStyle& style)
{
    for (int y = area.top() + 2; y <= area.bottom(); y += style.pitchY) {
        for (int x = area.left() + 2; x <= area.right(); x += style.pitchX)
            painter.fillRect(QRect(x, y, style.lineWidth, style.lineWidth), toQColor(style.ink));
    }
}

void paintBorder(QPainter& painter, const QRect& area, const LeafStyle& style)
{
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(toQColor(style.ink), 1, style.pattern == Pattern::Dashed ? Qt::DashLine : Qt::SolidLine));
    painter.drawRect(area.adjusted(0, 0, -1, -1));
}

QColor labelColor(const LeafStyle& style, Theme theme)
{
    return style.pattern == Pattern::Solid ? toQColor(inkOn(style.fill)) : toQColor(roles(theme).text);
}

/// Text on a hatch stands on a plate of canvas colour.
void paintLabel(QPainter& painter, const QRect& area, const BarSegment& segment, Theme theme)
{
    const LeafStyle& style = leafStyle(segment.leaf, theme);
    const QFontMetrics metrics(painter.font());
    for (const QString& label : segment.labels) {
        const int width = metrics.horizontalAdvance(label);
        if (width + 2 * kLabelPadding > area.width() || metrics.ascent() > area.height())
            continue;
        const QRect line(area.left() + kLabelPadding, area.top(), width, area.height());
        const bool hatched
            = style.pattern != Pattern::Solid && style.pattern != Pattern::Border && style.pattern != Pattern::Dashed;
        if (hatched) {
            const int plateHeight = std::min(metrics.height() + 2, area.height() - 2);
            QRect plate(line.left() - 3, 0, width + 6, plateHeight);
            plate.moveTop(area.top() + (area.height() - plateHeight) / 2);
            painter.fillRect(plate, toQColor(roles(theme).canvas));
        }
        painter.setPen(labelColor(style, theme));
        painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, label);
        return;
    }
}

} // namespace

void paintLeaf(QPainter& painter, const QRect& area, Leaf leaf, Theme theme)
{
    if (area.isEmpty())
        return;
    const LeafStyle& style = leafStyle(leaf, theme);
    if (area.width() < kLeastPatternPx || area.height() < kLeastPatternPx) {
        painter.fillRect(area, toQColor(plainColor(style)));
        return;
    }
    painter.save();
    painter.setClipRect(area, Qt::IntersectClip);
    if (style.filled)
        painter.fillRect(area, toQColor(style.fill));
    switch (style.pattern) {
    case Pattern::Solid:
        break;
    case Pattern::Dotted:
        painter.setPen(QPen(toQColor(style.ink), 1, Qt::DotLine));
        painter.drawLine(area.left(), area.bottom(), area.right(), area.bottom());
        break;
    case Pattern::Dots:
        paintDots(painter, area, style);
        [[fallthrough]];
    case Pattern::Border:
    case Pattern::Dashed:
        paintBorder(painter, area, style);
        break;
    default:
        paintLines(painter, area, style);
        paintBorder(painter, area, style);
    }
    painter.restore();
}

void paintBar(QPainter& painter, const QRect& area, std::span<const BarSegment> segments, Theme theme)
{
    const std::vector<int> ends = segmentEnds(segments, area.width());
    int left = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const bool last = i + 1 == segments.size();
        const int gap = !last && ends[i] - left > 2 * kLeastSegmentPx ? 1 : 0;
        const QRect part(area.left() + left, area.top(), ends[i] - left - gap, area.height());
        paintLeaf(painter, part, segments[i].leaf, theme);
        paintLabel(painter, part, segments[i], theme);
        left = ends[i];
    }
}

} // namespace rankscope::app
