#include "app/panels/widgets/stacked_bar.h"

#include "app/panels/widgets/leaf_painter.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>

namespace rankscope::app {

StackedBar::StackedBar(const Look& look, int height, QWidget* parent)
    : QWidget(parent)
    , look_(look)
{
    setFixedHeight(height);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&look_, &Look::themeChanged, this, qOverload<>(&QWidget::update));
}

void StackedBar::setSegments(std::vector<BarSegment> segments)
{
    segments_ = std::move(segments);
    QStringList words;
    for (const BarSegment& segment : segments_)
        words.push_back(segment.tip);
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    update();
}

int StackedBar::segmentAt(int x) const
{
    const std::vector<int> ends = segmentEnds(segments_, width());
    int left = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        if (x >= left && x < ends[i])
            return static_cast<int>(i);
        left = ends[i];
    }
    return -1;
}

void StackedBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setFont(textFont(height() >= 30 ? 13 : 12));
    paintBar(painter, rect(), segments_, look_.theme());
}

void StackedBar::mouseReleaseEvent(QMouseEvent* event)
{
    const int index = segmentAt(event->pos().x());
    if (event->button() == Qt::LeftButton && index >= 0)
        emit segmentClicked(index);
}

bool StackedBar::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int index = segmentAt(help->pos().x());
        if (index >= 0)
            QToolTip::showText(help->globalPos(), segments_[static_cast<std::size_t>(index)].tip, this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace rankscope::app
