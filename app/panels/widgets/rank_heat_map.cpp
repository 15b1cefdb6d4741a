#include "app/panels/widgets/rank_heat_map.h"

#include "tracing/analysis/wording.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace rankscope::app {
namespace {

constexpr int kCell = 12;
constexpr int kPitch = 13;
constexpr int kNameWidth = 84; ///< of a node, where nodes have names
constexpr int kNodeGap = 16;
constexpr int kLineGap = 5; ///< between nodes above each other
constexpr int kLegendHeight = 40; ///< the scale, and who stands out

QString percent(double share) { return QString::fromStdString(tracing::shareText(share)); }

} // namespace

RankHeatMap::RankHeatMap(const Look& look, QWidget* parent)
    : QWidget(parent)
    , look_(look)
{
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(&look_, &Look::themeChanged, this, qOverload<>(&QWidget::update));
}

void RankHeatMap::setHeat(RankHeat heat)
{
    heat_ = std::move(heat);
    mostCells_ = 1;
    nameWidth_ = 0;
    for (const RankHeat::Node& node : heat_.nodes) {
        mostCells_ = std::max(mostCells_, node.cells.size());
        nameWidth_ = node.name.isEmpty() ? nameWidth_ : kNameWidth;
    }
    setAccessibleName(tr("Share of each rank's window. %1").arg(heat_.worstText()));
    updateGeometry();
    update();
}

RankHeatMap::Grid RankHeatMap::gridFor(int width) const
{
    Grid grid;
    const int fit = std::max(1, (width - nameWidth_) / kPitch);
    const auto most = static_cast<int>(mostCells_);
    // Lines of a long node are of whole eights, so that ranks of one place in their eight stand above each other.
    grid.perLine = most <= fit ? most : fit >= 8 ? fit / 8 * 8 : fit;
    grid.lines = (most + grid.perLine - 1) / grid.perLine;
    grid.nodeWidth = nameWidth_ + grid.perLine * kPitch + kNodeGap;
    grid.nodeHeight = grid.lines * kPitch + kLineGap;
    grid.columns = std::max(1, (width + kNodeGap) / grid.nodeWidth);
    return grid;
}

QRect RankHeatMap::cellArea(const Grid& grid, std::size_t node, std::size_t cell) const
{
    const auto column = static_cast<int>(node) % grid.columns;
    const auto row = static_cast<int>(node) / grid.columns;
    const auto place = static_cast<int>(cell);
    return { column * grid.nodeWidth + nameWidth_ + place % grid.perLine * kPitch,
        row * grid.nodeHeight + place / grid.perLine * kPitch, kCell, kCell };
}

int RankHeatMap::heightForWidth(int width) const
{
    const Grid grid = gridFor(width);
    const auto nodes = static_cast<int>(heat_.nodes.size());
    return (nodes + grid.columns - 1) / grid.columns * grid.nodeHeight + kLegendHeight;
}

std::optional<HeatCell> RankHeatMap::cellAt(QPoint at) const
{
    const Grid grid = gridFor(width());
    for (std::size_t node = 0; node < heat_.nodes.size(); ++node) {
        const auto& cells = heat_.nodes[node].cells;
        for (std::size_t cell = 0; cell < cells.size(); ++cell) {
            // The gap right of a cell and below it belongs to it: nothing there is a dead spot.
            if (cellArea(grid, node, cell).adjusted(0, 0, kPitch - kCell, kPitch - kCell).contains(at))
                return cells[cell];
        }
    }
    return std::nullopt;
}

void RankHeatMap::paintEvent(QPaintEvent* event)
{
    QPainter painter(this);
    paintNodes(painter, event->rect());
    paintLegend(painter);
}

void RankHeatMap::paintNodes(QPainter& painter, const QRect& dirty) const
{
    const Grid grid = gridFor(width());
    const QColor ink = toQColor(look_.colors().text);
    painter.setFont(textFont(12));
    for (std::size_t n = 0; n < heat_.nodes.size(); ++n) {
        const RankHeat::Node& node = heat_.nodes[n];
        const QRect first = cellArea(grid, n, 0);
        if (first.top() > dirty.bottom() || first.top() + grid.nodeHeight < dirty.top())
            continue;
        painter.setPen(toQColor(look_.colors().dim));
        const QRect name(first.left() - nameWidth_, first.top() - 1, nameWidth_ - 8, kCell + 2);
        painter.drawText(
            name, Qt::AlignVCenter, painter.fontMetrics().elidedText(node.name, Qt::ElideMiddle, name.width()));
        for (std::size_t c = 0; c < node.cells.size(); ++c) {
            const QRect area = cellArea(grid, n, c);
            const HeatCell& cell = node.cells[c];
            painter.fillRect(area, toQColor(heatColor(heat_.stepOf(cell.share), look_.theme())));
            const bool isWorst = std::ranges::find(heat_.worst, cell.rank, &HeatCell::rank) != heat_.worst.end();
            painter.setPen(isWorst ? ink : toQColor(look_.colors().line));
            painter.drawRect(area.adjusted(0, 0, -1, -1));
        }
    }
}

/// "12.0 % [ ][ ][ ][ ][ ] 71.2 %", from good to bad, and who stands out.
void RankHeatMap::paintLegend(QPainter& painter) const
{
    const int top = height() - kLegendHeight + 4;
    painter.setPen(toQColor(look_.colors().dim));
    const QString good = percent(heat_.lowIsBad ? heat_.highest : heat_.lowest);
    const QString bad = percent(heat_.lowIsBad ? heat_.lowest : heat_.highest);
    int x = 0;
    const auto word = [&](const QString& text) {
        const int width = painter.fontMetrics().horizontalAdvance(text);
        painter.drawText(QRect(x, top, width + 1, kCell), Qt::AlignVCenter, text);
        x += width + 6;
    };
    word(good);
    for (int step = 0; step < kHeatSteps; ++step) {
        const QRect area(x, top, kCell, kCell);
        painter.fillRect(area, toQColor(heatColor(step, look_.theme())));
        painter.drawRect(area.adjusted(0, 0, -1, -1));
        x += kPitch;
    }
    x += 6;
    word(bad);
    painter.setPen(toQColor(look_.colors().text));
    painter.drawText(QRect(0, top + 18, width(), 16), Qt::AlignVCenter,
        painter.fontMetrics().elidedText(heat_.worstText(), Qt::ElideRight, width()));
}

void RankHeatMap::mouseReleaseEvent(QMouseEvent* event)
{
    const auto cell = cellAt(event->pos());
    if (event->button() == Qt::LeftButton && cell)
        emit rankClicked(cell->rank);
}

bool RankHeatMap::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const auto cell = cellAt(help->pos())) {
        QToolTip::showText(help->globalPos(),
            QStringLiteral("rank %1: %2 %3 of its window")
                .arg(cell->rank)
                .arg(leafWord(heat_.leaf), percent(cell->share)),
            this);
    }
    return true;
}

} // namespace rankscope::app
