#include "app/panels/widgets/step_chart.h"

#include "app/panels/widgets/axis.h"
#include "tracing/analysis/wording.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace rankscope::app {
namespace {

constexpr int kNumberHeight = 18;
constexpr double kWidestBar = 60;
constexpr double kLeastForLabel = 46; // "1.06 s" over each bar

QString duration(std::int64_t ns) { return QString::fromStdString(tracing::timeText(ns)); }

} // namespace

StepChart::StepChart(const Look& look, QWidget* parent)
    : QWidget(parent)
    , look_(look)
{
    setMinimumHeight(110);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    connect(&look_, &Look::themeChanged, this, qOverload<>(&QWidget::update));
}

void StepChart::setSteps(std::vector<StepBar> steps)
{
    steps_ = std::move(steps);
    update();
}

QRect StepChart::plotArea() const { return rect().adjusted(0, kNumberHeight, 0, -kNumberHeight); }

double StepChart::slotWidth() const
{
    const double all = plotArea().width() / static_cast<double>(std::max<std::size_t>(1, steps_.size()));
    return std::min(all, kWidestBar * 1.5);
}

int StepChart::indexAt(int x) const
{
    if (steps_.empty() || x < 0)
        return -1;
    const double slot = slotWidth();
    const auto first = static_cast<std::size_t>(x / slot);
    if (first >= steps_.size())
        return -1;
    const auto last = std::min(steps_.size(), std::max(first + 1, static_cast<std::size_t>((x + 1) / slot)));
    const auto begin = steps_.begin();
    const auto slowest = std::max_element(begin + static_cast<std::ptrdiff_t>(first),
        begin + static_cast<std::ptrdiff_t>(last), [](const StepBar& a, const StepBar& b) { return a.ns < b.ns; });
    return static_cast<int>(slowest - begin);
}

void StepChart::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setFont(textFont(12));
    const QRect plot = plotArea();
    painter.setPen(toQColor(look_.colors().dim));
    if (steps_.empty()) {
        painter.drawText(rect(), Qt::AlignLeft | Qt::AlignTop, "no step in this trace");
        return;
    }
    const auto slowest = std::max_element(
        steps_.begin(), steps_.end(), [](const StepBar& a, const StepBar& b) { return a.ns < b.ns; });
    const double highest = static_cast<double>(std::max<std::int64_t>(1, slowest->ns));
    paintBars(painter, plot, highest);
    paintNumbers(painter, plot);
    if (slotWidth() < kLeastForLabel) {
        painter.setPen(toQColor(look_.colors().dim));
        painter.drawText(QRect(0, 0, width(), kNumberHeight - 2), Qt::AlignRight | Qt::AlignTop,
            "slowest " + duration(slowest->ns) + ", step " + QString::number(slowest->step));
    }
}

void StepChart::paintBars(QPainter& painter, const QRect& plot, double highest) const
{
    const LeafStyle& compute = leafStyle(Leaf::Compute, look_.theme());
    const double slot = slotWidth();
    const bool labelled = slot >= kLeastForLabel;
    const int barWidth = std::max(1, static_cast<int>(std::min(kWidestBar, slot * (slot > 4 ? 0.7 : 1.0))));
    int drawnTo = -1;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const int column = static_cast<int>(static_cast<double>(i) * slot + (slot - barWidth) / 2);
        if (column <= drawnTo && slot < 1)
            continue;
        drawnTo = column;
        const StepBar& step = steps_[slot < 1 ? static_cast<std::size_t>(indexAt(column)) : i];
        const int height
            = std::max(1, static_cast<int>(std::lround(static_cast<double>(step.ns) / highest * plot.height())));
        const QRect bar(column, plot.bottom() + 1 - height, barWidth, height);
        if (step.counted) {
            painter.fillRect(bar, toQColor(compute.fill));
        } else if (barWidth > 3) {
            painter.setPen(toQColor(look_.colors().dim));
            painter.drawRect(bar.adjusted(0, 0, -1, -1));
        } else {
            painter.fillRect(bar, toQColor(look_.colors().line));
        }
        if (labelled) {
            painter.setPen(toQColor(step.counted ? look_.colors().text : look_.colors().dim));
            painter.drawText(
                QRect(static_cast<int>(static_cast<double>(i) * slot), bar.top() - 16, static_cast<int>(slot), 14),
                Qt::AlignCenter, duration(step.ns));
        }
    }
}

std::vector<std::pair<int, QString>> StepChart::numbers() const
{
    std::vector<std::pair<int, QString>> result;
    if (steps_.empty())
        return result;
    // Round numbers where the steps count up one by one; a trace of chosen steps shows the numbers that it has.
    const auto first = static_cast<double>(steps_.front().step);
    const auto last = static_cast<double>(steps_.size() - 1);
    const bool inOrder = static_cast<double>(steps_.back().step) - first == last;
    const double offset = inOrder ? first : 0;
    for (const double tick : wholeTicks(offset, offset + last, std::max(2, width() / 50))) {
        const auto index = static_cast<std::size_t>(tick - offset);
        const auto middle = static_cast<int>((static_cast<double>(index) + 0.5) * slotWidth());
        result.emplace_back(middle, QString::number(steps_[index].step));
    }
    return result;
}

void StepChart::paintNumbers(QPainter& painter, const QRect& plot) const
{
    painter.setPen(toQColor(look_.colors().dim));
    for (const auto& [middle, number] : numbers()) {
        const int width = painter.fontMetrics().horizontalAdvance(number);
        const int left = std::clamp(middle - width / 2, 0, std::max(0, this->width() - width));
        painter.drawText(
            QRect(left, plot.bottom() + 4, width + 1, kNumberHeight - 4), Qt::AlignLeft | Qt::AlignTop, number);
    }
}

void StepChart::mouseReleaseEvent(QMouseEvent* event)
{
    const int index = indexAt(event->pos().x());
    if (event->button() == Qt::LeftButton && index >= 0)
        emit stepClicked(steps_[static_cast<std::size_t>(index)].step);
}

bool StepChart::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int index = indexAt(help->pos().x());
    if (index >= 0) {
        const StepBar& step = steps_[static_cast<std::size_t>(index)];
        QToolTip::showText(help->globalPos(),
            QStringLiteral("step %1: %2%3").arg(step.step).arg(duration(step.ns), step.counted ? "" : ", not counted"),
            this);
    }
    return true;
}

} // namespace rankscope::app
