#include "app/panels/widgets/rank_bars.h"

#include "app/panels/widgets/leaf_painter.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QToolTip>

namespace rankscope::app {
namespace {

constexpr int kRowPitch = 28;
constexpr int kBarHeight = 22;
constexpr int kNameWidth = 64;
constexpr int kColumnWidth = 56;

} // namespace

RankBars::RankBars(const Look& look, Shows shows, QWidget* parent)
    : QWidget(parent)
    , look_(look)
    , shows_(shows)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&look_, &Look::themeChanged, this, qOverload<>(&QWidget::update));
}

void RankBars::setRows(std::vector<RankRow> rows)
{
    rows_ = std::move(rows);
    updateGeometry();
    update();
}

QSize RankBars::sizeHint() const { return { 480, headHeight() + static_cast<int>(rows_.size()) * kRowPitch }; }

int RankBars::rowAt(int y) const
{
    const int row = (y - headHeight()) / kRowPitch;
    return y >= headHeight() && row < static_cast<int>(rows_.size()) ? row : -1;
}

QRect RankBars::barArea(int row) const
{
    const int columns = shows_ == Shows::Times ? 3 * kColumnWidth + 8 : kColumnWidth;
    return { kNameWidth, headHeight() + row * kRowPitch, std::max(40, width() - kNameWidth - columns), kBarHeight };
}

const std::vector<BarSegment>& RankBars::bar(const RankRow& row) const
{
    return shows_ == Shows::Times ? row.bar : row.communication;
}

void RankBars::paintColumns(QPainter& painter, const QRect& line, const QStringList& words, const QColor& color) const
{
    painter.setPen(color);
    for (int i = 0; i < words.size(); ++i) {
        const int right = width() - (static_cast<int>(words.size()) - 1 - i) * kColumnWidth;
        painter.drawText(QRect(right - kColumnWidth, line.top(), kColumnWidth, line.height()),
            Qt::AlignRight | Qt::AlignVCenter, words[i]);
    }
}

void RankBars::paintEvent(QPaintEvent* event)
{
    QPainter painter(this);
    const Roles& colors = look_.colors();
    const bool times = shows_ == Shows::Times;
    painter.setFont(textFont(12));
    if (times)
        paintColumns(
            painter, QRect(0, 0, width(), headHeight()), { "compute", "waiting", "hidden" }, toQColor(colors.dim));
    for (int i = 0; i < static_cast<int>(rows_.size()); ++i) {
        const QRect area = barArea(i);
        if (area.bottom() < event->rect().top() || area.top() > event->rect().bottom())
            continue;
        const RankRow& row = rows_[static_cast<std::size_t>(i)];
        painter.setFont(textFont(13));
        painter.setPen(toQColor(colors.text));
        painter.drawText(QRect(0, area.top(), kNameWidth - 8, area.height()), Qt::AlignVCenter, row.name);
        paintColumns(painter, area,
            times ? QStringList{ row.compute, row.waiting, row.hidden } : QStringList{ row.hidden },
            toQColor(colors.text));
        painter.setFont(textFont(12));
        if (bar(row).empty()) {
            painter.setPen(toQColor(colors.dim));
            painter.drawText(area, Qt::AlignVCenter, "no communication");
        }
        paintBar(painter, area, bar(row), look_.theme());
    }
}

void RankBars::mouseReleaseEvent(QMouseEvent* event)
{
    const int row = rowAt(event->pos().y());
    if (event->button() == Qt::LeftButton && row >= 0)
        emit rankClicked(rows_[static_cast<std::size_t>(row)].rank);
}

bool RankBars::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    if (help->pos().y() < headHeight()) {
        QToolTip::showText(help->globalPos(),
            "compute: share of the rank’s window; waiting: for other ranks, in collectives and in pipeline bubbles;\n"
            "hidden: share of its communication that ran under compute",
            this);
        return true;
    }
    const int row = rowAt(help->pos().y());
    if (row < 0)
        return true;
    const auto& segments = bar(rows_[static_cast<std::size_t>(row)]);
    const QRect area = barArea(row);
    const std::vector<int> ends = segmentEnds(segments, area.width());
    const auto hit = std::upper_bound(ends.begin(), ends.end(), help->pos().x() - area.left());
    if (help->pos().x() >= area.left() && hit != ends.end())
        QToolTip::showText(help->globalPos(), segments[static_cast<std::size_t>(hit - ends.begin())].tip, this);
    return true;
}

} // namespace rankscope::app
