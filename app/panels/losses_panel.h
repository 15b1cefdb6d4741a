#pragma once

#include "tracing/model/rows.h"

#include <QWidget>

#include <vector>

class QLabel;
class QTreeWidget;

namespace rankscope::app {

/// What was dropped, repaired or not understood while a run was recorded or imported: no figure is better than this.
class LossesPanel : public QWidget {
    Q_OBJECT

public:
    explicit LossesPanel(QWidget* parent = nullptr);

    void setLosses(const std::vector<tracing::Loss>& losses);
    QStringList texts() const; ///< a line a loss

private:
    QLabel* hint_;
    QLabel* nothing_;
    QTreeWidget* list_;
    std::vector<tracing::Loss> losses_;
};

} // namespace rankscope::app
