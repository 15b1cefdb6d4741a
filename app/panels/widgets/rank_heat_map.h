#pragma once

#include "app/models/rank_heat.h"
#include "app/session/look.h"

#include <QWidget>

#include <optional>

namespace rankscope::app {

/// A cell of 12 x 12 px a rank in rows of nodes, as many nodes beside each other as fit; who stands out is outlined
/// and named below. Hundreds of ranks stay readable.
class RankHeatMap : public QWidget {
    Q_OBJECT

public:
    explicit RankHeatMap(const Look& look, QWidget* parent = nullptr);

    void setHeat(RankHeat heat);
    const RankHeat& heat() const { return heat_; }
    std::optional<HeatCell> cellAt(QPoint at) const;

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override { return { 480, heightForWidth(480) }; }

signals:
    void rankClicked(int rank);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    /// How the nodes stand in a width.
    struct Grid {
        int columns = 1; ///< nodes beside each other
        int perLine = 1; ///< cells
        int lines = 1; ///< of cells in a node
        int nodeWidth = 0;
        int nodeHeight = 0;
    };
    Grid gridFor(int width) const;
    QRect cellArea(const Grid& grid, std::size_t node, std::size_t cell) const;
    void paintNodes(QPainter& painter, const QRect& dirty) const;
    void paintLegend(QPainter& painter) const;

    const Look& look_;
    RankHeat heat_;
    std::size_t mostCells_ = 1; ///< of a node
    int nameWidth_ = 0;
};

} // namespace rankscope::app
