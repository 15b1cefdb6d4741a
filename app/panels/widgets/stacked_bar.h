#pragma once

#include "app/models/leaf_bar.h"
#include "app/session/look.h"

#include <QWidget>

#include <vector>

namespace rankscope::app {

/// A stacked bar of one height, such as the capacity strip. Resting on a segment shows its figures.
class StackedBar : public QWidget {
    Q_OBJECT

public:
    StackedBar(const Look& look, int height, QWidget* parent = nullptr);

    void setSegments(std::vector<BarSegment> segments);
    const std::vector<BarSegment>& segments() const { return segments_; }
    /// Index of the segment under a pixel column; -1: none.
    int segmentAt(int x) const;

signals:
    void segmentClicked(int index);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    const Look& look_;
    std::vector<BarSegment> segments_;
};

} // namespace rankscope::app
