#pragma once

#include "app/models/ledger_model.h"
#include "app/session/look.h"

#include <QWidget>

#include <vector>

namespace rankscope::app {

/// One stacked bar a group of the ledger with its amount at the right, 28 px a row. Draws only the rows that are
/// visible.
class GroupBars : public QWidget {
    Q_OBJECT

public:
    explicit GroupBars(const Look& look, QWidget* parent = nullptr);

    void setGroups(std::vector<LedgerGroup> groups);
    const std::vector<LedgerGroup>& groups() const { return groups_; }
    QSize sizeHint() const override;

signals:
    void groupClicked(const rankscope::app::LedgerGroup& group);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    int rowAt(int y) const; ///< -1: none
    QRect barArea(int row) const;

    const Look& look_;
    std::vector<LedgerGroup> groups_;
    int nameWidth_ = 0; ///< of the longest
    int amountWidth_ = 0;
};

} // namespace rankscope::app
