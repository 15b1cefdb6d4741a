#pragma once

#include "app/models/overview_model.h"
#include "app/session/look.h"

#include <QFrame>

namespace rankscope::app {

/// One finding: a mark of its severity, title, figures and what to try, its cost and how certain that is, and
/// Show where there is evidence. 52 px high, 70 with something to try.
class FindingRow : public QFrame {
    Q_OBJECT

public:
    FindingRow(const Look& look, FindingCard card, bool canShow, QWidget* parent = nullptr);

    const FindingCard& card() const { return card_; }

signals:
    void showRequested(const rankscope::app::FindingCard& card);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    const Look& look_;
    FindingCard card_;
    bool leads_ = false; ///< a click leads to the evidence
};

} // namespace rankscope::app
