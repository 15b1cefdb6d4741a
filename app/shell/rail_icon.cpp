#include "app/shell/rail_icon.h"

#include <QPainter>
#include <QPixmap>

namespace rankscope::app {
namespace {

constexpr int kSize = 20;
constexpr int kScale = 2; // sharp also on dense screens

void paintWelcome(QPainter& painter)
{
    painter.drawPolyline(QPolygonF{ { 2.5, 10.5 }, { 10, 3.5 }, { 17.5, 10.5 } });
    painter.drawPolyline(QPolygonF{ { 4.5, 9.5 }, { 4.5, 16.5 }, { 15.5, 16.5 }, { 15.5, 9.5 } });
}

/// A part of a whole: the capacity strip.
void paintOverview(QPainter& painter)
{
    painter.drawRect(QRectF(2.5, 3.5, 15, 13));
    painter.drawLine(QPointF(2.5, 8.5), QPointF(17.5, 8.5));
    painter.fillRect(QRectF(3, 4, 6, 4.5), painter.pen().color());
    painter.drawLine(QPointF(5.5, 12.5), QPointF(14.5, 12.5));
}

/// Spans on lanes.
void paintTimeline(QPainter& painter)
{
    const QColor color = painter.pen().color();
    painter.fillRect(QRectF(2, 4, 8, 3), color);
    painter.fillRect(QRectF(12, 4, 6, 3), color);
    painter.fillRect(QRectF(5, 9, 9, 3), color);
    painter.fillRect(QRectF(2, 14, 4, 3), color);
    painter.fillRect(QRectF(9, 14, 9, 3), color);
}

/// Shares of a sum, line by line.
void paintLedger(QPainter& painter)
{
    const QColor color = painter.pen().color();
    painter.fillRect(QRectF(2, 3, 4, 3), color);
    painter.fillRect(QRectF(2, 7.5, 15, 3), color);
    painter.fillRect(QRectF(2, 12, 8, 3), color);
    painter.drawLine(QPointF(2, 17.5), QPointF(18, 17.5));
}

/// A sheet with a piece missing.
void paintLosses(QPainter& painter)
{
    painter.drawPolyline(QPolygonF{ { 16.5, 8 }, { 16.5, 17.5 }, { 3.5, 17.5 }, { 3.5, 2.5 }, { 11, 2.5 } });
    painter.setPen(QPen(painter.pen().color(), 1, Qt::DotLine));
    painter.drawPolyline(QPolygonF{ { 11, 2.5 }, { 16.5, 2.5 }, { 16.5, 8 } });
}

} // namespace

QIcon railIcon(RailSymbol symbol, const QColor& color)
{
    QPixmap pixmap(kSize * kScale, kSize * kScale);
    pixmap.setDevicePixelRatio(kScale);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setPen(QPen(color, 1));
    switch (symbol) {
    case RailSymbol::Welcome:
        paintWelcome(painter);
        break;
    case RailSymbol::Overview:
        paintOverview(painter);
        break;
    case RailSymbol::Timeline:
        paintTimeline(painter);
        break;
    case RailSymbol::Ledger:
        paintLedger(painter);
        break;
    case RailSymbol::Losses:
        paintLosses(painter);
        break;
    }
    painter.end();
    return QIcon(pixmap);
}

} // namespace rankscope::app
