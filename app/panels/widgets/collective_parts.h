#pragma once

#include "app/models/details.h"
#include "app/session/look.h"

#include <QWidget>

#include <vector>

namespace rankscope::app {

/// One row a rank of a collective on one time axis: wait, transfer, the late rank named, the clock's error as whiskers.
class CollectiveParts : public QWidget {
    Q_OBJECT

public:
    explicit CollectiveParts(const Look& look, QWidget* parent = nullptr);

    void setRows(std::vector<CollectivePartRow> rows);
    const std::vector<CollectivePartRow>& rows() const { return rows_; }
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void paintRow(QPainter& painter, const CollectivePartRow& row, int top) const;
    void paintWhisker(QPainter& painter, int x, int middle, int halfWidth) const;
    int xOf(std::int64_t timeNs) const;

    const Look& look_;
    std::vector<CollectivePartRow> rows_;
    std::int64_t beginNs_ = 0;
    std::int64_t endNs_ = 1;
};

} // namespace rankscope::app
