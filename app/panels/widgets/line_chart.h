#pragma once

#include "app/models/overview_model.h"
#include "app/session/look.h"

#include <QWidget>

#include <vector>

namespace rankscope::app {

/// Lines over steps, such as the loss: the first drawn solid, the second with points, each named at its last value.
class LineChart : public QWidget {
    Q_OBJECT

public:
    explicit LineChart(const Look& look, QWidget* parent = nullptr);

    void setSeries(std::vector<LineSeries> series);
    const std::vector<LineSeries>& series() const { return series_; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Scale {
        QRectF plot;
        double lowX, highX, lowY, highY;
        QPointF map(const LinePoint& point) const;
    };
    Scale scale() const;
    void paintAxes(QPainter& painter, const Scale& scale) const;
    void paintLine(QPainter& painter, const Scale& scale, std::size_t index) const;

    const Look& look_;
    std::vector<LineSeries> series_;
};

} // namespace rankscope::app
