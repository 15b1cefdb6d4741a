#pragma once

#include "app/models/overview_model.h"
#include "app/session/look.h"

#include <QWidget>

#include <vector>

namespace rankscope::app {

/// One stacked bar a rank with its figures at the right, 28 px a row. Draws only the rows that are visible.
class RankBars : public QWidget {
    Q_OBJECT

public:
    /// Times: where the rank's time went. Communication: how much of its communication is hidden.
    enum class Shows { Times, Communication };

    RankBars(const Look& look, Shows shows, QWidget* parent = nullptr);

    void setRows(std::vector<RankRow> rows);
    const std::vector<RankRow>& rows() const { return rows_; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return { 200, sizeHint().height() }; }

signals:
    void rankClicked(int rank);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    int headHeight() const { return shows_ == Shows::Times ? 18 : 0; }
    int rowAt(int y) const; ///< -1: none
    QRect barArea(int row) const;
    const std::vector<BarSegment>& bar(const RankRow& row) const;
    void paintColumns(QPainter& painter, const QRect& line, const QStringList& words, const QColor& color) const;

    const Look& look_;
    Shows shows_;
    std::vector<RankRow> rows_;
};

} // namespace rankscope::app
