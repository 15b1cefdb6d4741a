#pragma once

#include "app/models/details.h"
#include "app/panels/widgets/collective_parts.h"
#include "app/session/look.h"
#include "app/session/run_session.h"

#include <QScrollArea>

class QFormLayout;
class QLabel;

namespace rankscope::app {

/// What the file says about the selection; for a collective one row a rank, aligned on one clock.
class DetailsPanel : public QScrollArea {
    Q_OBJECT

public:
    DetailsPanel(RunSession& session, const Look& look, QWidget* parent = nullptr);

    QString title() const;

signals:
    void shown(); ///< new details stand here

private:
    void load();
    void fill(const Details& details);
    void clear(const QString& hint);

    RunSession& session_;
    JobSlot slot_;
    QLabel* title_;
    QLabel* subtitle_;
    QWidget* fieldBox_;
    QFormLayout* fields_;
    CollectiveParts* parts_;
    QLabel* conclusion_;
};

} // namespace rankscope::app
