#pragma once

#include "app/models/overview_model.h"
#include "app/session/look.h"

#include <QWidget>

#include <utility>
#include <vector>

namespace rankscope::app {

/// Time of each step as a bar; steps that the figures leave out (warm-up, cut off, still running) are hollow. More
/// steps than pixels: the slowest of each column.
class StepChart : public QWidget {
    Q_OBJECT

public:
    explicit StepChart(const Look& look, QWidget* parent = nullptr);

    void setSteps(std::vector<StepBar> steps);
    const std::vector<StepBar>& steps() const { return steps_; }
    /// The step whose bar is under a pixel column; -1: none. Of several in one column: the slowest.
    int indexAt(int x) const;
    /// Step numbers under the bars, each with the pixel column of its bar's middle.
    std::vector<std::pair<int, QString>> numbers() const;

signals:
    void stepClicked(std::int64_t step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRect plotArea() const;
    double slotWidth() const;
    void paintBars(QPainter& painter, const QRect& plot, double highest) const;
    void paintNumbers(QPainter& painter, const QRect& plot) const;

    const Look& look_;
    std::vector<StepBar> steps_;
};

} // namespace rankscope::app
