#pragma once

#include "app/models/ledger_model.h"
#include "app/session/look.h"

#include <QTreeWidget>

#include <optional>
#include <vector>

namespace rankscope::app {

/// The lines of the ledger: leaf, amount, bar, own time, culprit and cause, what fixing it gives; the sum last.
class LedgerTable : public QTreeWidget {
    Q_OBJECT

public:
    enum Column { Name, Amount, Bar, Own, Who, Fixed, ColumnCount };

    explicit LedgerTable(const Look& look, QWidget* parent = nullptr);

    /// Keeps what is selected, where it is still there.
    void setModel(const LedgerModel& model, const QString& amountWord);
    const std::vector<LedgerLine>& lines() const { return lines_; }
    void selectLine(std::size_t index);
    std::optional<tracing::LeafChoice> selectedLine() const;

    QSize sizeHint() const override;

signals:
    void lineSelected(); ///< or none any more: selectedLine()
    void lineActivated(); ///< Enter or a double click

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitColumns();
    QTreeWidgetItem* addLine(std::size_t index);
    void addSum(const LedgerModel& model);

    const Look& look_;
    std::vector<LedgerLine> lines_;
    bool filling_ = false;
};

} // namespace rankscope::app
