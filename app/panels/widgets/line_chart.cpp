#include "app/panels/widgets/line_chart.h"

#include "app/panels/widgets/axis.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <limits>

namespace rankscope::app {
namespace {

constexpr int kAxisWidth = 34;
constexpr int kNumberHeight = 18;
constexpr int kNameWidth = 58;

} // namespace

LineChart::LineChart(const Look& look, QWidget* parent)
    : QWidget(parent)
    , look_(look)
{
    setMinimumHeight(110);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    connect(&look_, &Look::themeChanged, this, qOverload<>(&QWidget::update));
}

void LineChart::setSeries(std::vector<LineSeries> series)
{
    series_ = std::move(series);
    update();
}

QPointF LineChart::Scale::map(const LinePoint& point) const
{
    return { plot.left() + (point.x - lowX) / (highX - lowX) * plot.width(),
        plot.bottom() - (point.y - lowY) / (highY - lowY) * plot.height() };
}

LineChart::Scale LineChart::scale() const
{
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Scale scale{ QRectF(rect()).adjusted(kAxisWidth, 8, -kNameWidth, -kNumberHeight), kInfinity, -kInfinity, kInfinity,
        -kInfinity };
    for (const LineSeries& line : series_) {
        for (const LinePoint& point : line.points) {
            scale.lowX = std::min(scale.lowX, point.x);
            scale.highX = std::max(scale.highX, point.x);
            scale.lowY = std::min(scale.lowY, point.y);
            scale.highY = std::max(scale.highY, point.y);
        }
    }
    if (!(scale.highX > scale.lowX))
        scale.highX = scale.lowX + 1;
    const double margin = scale.highY > scale.lowY ? (scale.highY - scale.lowY) * 0.06 : 0.5;
    scale.lowY -= margin;
    scale.highY += margin;
    return scale;
}

void LineChart::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setFont(textFont(12));
    if (series_.empty()) {
        painter.setPen(toQColor(look_.colors().dim));
        painter.drawText(rect(), Qt::AlignLeft | Qt::AlignTop, "not in this trace");
        return;
    }
    const Scale axes = scale();
    paintAxes(painter, axes);
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = 0; i < series_.size(); ++i)
        paintLine(painter, axes, i);
}

void LineChart::paintAxes(QPainter& painter, const Scale& axes) const
{
    const auto left = static_cast<int>(axes.plot.left());
    const auto right = static_cast<int>(axes.plot.right());
    for (const double tick : roundTicks(axes.lowY, axes.highY, static_cast<int>(axes.plot.height() / 28))) {
        const int y = static_cast<int>(axes.map({ axes.lowX, tick }).y());
        painter.setPen(toQColor(look_.colors().line));
        painter.drawLine(left, y, right, y);
        painter.setPen(toQColor(look_.colors().dim));
        painter.drawText(
            QRect(0, y - 8, kAxisWidth - 6, 16), Qt::AlignRight | Qt::AlignVCenter, QString::number(tick, 'g', 3));
    }
    painter.setPen(toQColor(look_.colors().dim));
    for (const double tick : wholeTicks(axes.lowX, axes.highX, std::max(2, static_cast<int>(axes.plot.width() / 50)))) {
        const int x = static_cast<int>(axes.map({ tick, axes.lowY }).x());
        painter.drawText(QRect(x - 30, static_cast<int>(axes.plot.bottom()) + 4, 60, kNumberHeight - 4),
            Qt::AlignHCenter | Qt::AlignTop, QString::number(tick, 'f', 0));
    }
}

void LineChart::paintLine(QPainter& painter, const Scale& axes, std::size_t index) const
{
    const LineSeries& line = series_[index];
    if (line.points.empty())
        return;
    const QColor color
        = index == 0 ? toQColor(leafStyle(Leaf::Compute, look_.theme()).ink) : toQColor(look_.colors().text);
    QPainterPath path(axes.map(line.points.front()));
    for (const LinePoint& point : line.points)
        path.lineTo(axes.map(point));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color, index == 0 ? 1.5 : 1.0));
    painter.drawPath(path);
    if (index > 0 || line.points.size() == 1) {
        painter.setBrush(color);
        for (const LinePoint& point : line.points)
            painter.drawEllipse(axes.map(point), 2.5, 2.5);
    }
    // Names side by side would overlap where two lines end together: the later one steps aside.
    const QPointF end = axes.map(line.points.back());
    double y = end.y();
    if (index > 0) {
        const double first = axes.map(series_.front().points.back()).y();
        if (std::abs(y - first) < 15)
            y = y <= first ? first - 15 : first + 15;
    }
    painter.drawText(
        QRectF(axes.plot.right() + 6, y - 8, kNameWidth - 6, 16), Qt::AlignLeft | Qt::AlignVCenter, line.name);
}

} // namespace rankscope::app
