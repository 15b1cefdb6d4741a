#include "app/panels/widgets/group_bars.h"

#include "app/panels/widgets/leaf_painter.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QToolTip>

#include <algorithm>

namespace rankscope::app {
namespace {

constexpr int kRowPitch = 28;
constexpr int kBarHeight = 22;
constexpr int kMostNameWidth = 150; ///< longer names are cut
constexpr int kColumnGap = 12;

} // namespace

GroupBars::GroupBars(const Look& look, QWidget* parent)
    : QWidget(parent)
    , look_(look)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&look_, &Look::themeChanged, this, qOverload<>(&QWidget::update));
}

void GroupBars::setGroups(std::vector<LedgerGroup> groups)
{
    groups_ = std::move(groups);
    const QFontMetrics metrics(textFont(13));
    nameWidth_ = amountWidth_ = 0;
    for (const LedgerGroup& group : groups_) {
        nameWidth_ = std::max(nameWidth_, metrics.horizontalAdvance(group.name) + kColumnGap);
        amountWidth_ = std::max(amountWidth_, metrics.horizontalAdvance(group.amount) + kColumnGap);
    }
    nameWidth_ = std::min(nameWidth_, kMostNameWidth);
    setFixedHeight(sizeHint().height());
    update();
}

QSize GroupBars::sizeHint() const { return { 480, static_cast<int>(groups_.size()) * kRowPitch }; }

int GroupBars::rowAt(int y) const
{
    const int row = y / kRowPitch;
    return y >= 0 && row < static_cast<int>(groups_.size()) ? row : -1;
}

QRect GroupBars::barArea(int row) const
{
    return { nameWidth_, row * kRowPitch, std::max(40, width() - nameWidth_ - amountWidth_), kBarHeight };
}

void GroupBars::paintEvent(QPaintEvent* event)
{
    QPainter painter(this);
    const QColor ink = toQColor(look_.colors().text);
    const int first = std::max(0, event->rect().top() / kRowPitch);
    const int last = std::min(static_cast<int>(groups_.size()) - 1, event->rect().bottom() / kRowPitch);
    for (int i = first; i <= last; ++i) {
        const LedgerGroup& group = groups_[static_cast<std::size_t>(i)];
        const QRect area = barArea(i);
        painter.setFont(textFont(13));
        painter.setPen(ink);
        const QRect name(0, area.top(), nameWidth_ - 8, area.height());
        painter.drawText(
            name, Qt::AlignVCenter, painter.fontMetrics().elidedText(group.name, Qt::ElideRight, name.width()));
        painter.drawText(QRect(width() - amountWidth_, area.top(), amountWidth_, area.height()),
            Qt::AlignRight | Qt::AlignVCenter, group.amount);
        painter.setFont(textFont(12));
        paintBar(painter, area, group.bar, look_.theme());
    }
}

void GroupBars::mouseReleaseEvent(QMouseEvent* event)
{
    const int row = rowAt(event->pos().y());
    if (event->button() == Qt::LeftButton && row >= 0)
        emit groupClicked(groups_[static_cast<std::size_t>(row)]);
}

bool GroupBars::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int row = rowAt(help->pos().y());
    if (row < 0)
        return true;
    const LedgerGroup& group = groups_[static_cast<std::size_t>(row)];
    const QRect area = barArea(row);
    const std::vector<int> ends = segmentEnds(group.bar, area.width());
    const auto hit = std::upper_bound(ends.begin(), ends.end(), help->pos().x() - area.left());
    const bool onBar = help->pos().x() >= area.left() && hit != ends.end();
    QToolTip::showText(help->globalPos(),
        onBar ? group.name + ", " + group.bar[static_cast<std::size_t>(hit - ends.begin())].tip : group.name, this);
    return true;
}

} // namespace rankscope::app
