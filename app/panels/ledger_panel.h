#pragma once

#include "app/models/ledger_model.h"
#include "app/panels/widgets/group_bars.h"
#include "app/panels/widgets/ledger_table.h"
#include "app/session/look.h"

#include <QWidget>

#include <memory>

class QBoxLayout;
class QButtonGroup;
class QLabel;
class QLineEdit;
class QPushButton;

namespace rankscope::app {

/// Every ns of the run in one leaf (LOOK, section 7): the leaves with their culprits and what fixing them gives, and a
/// stacked bar a rank, step, dimension or cause.
class LedgerPanel : public QWidget {
    Q_OBJECT

public:
    explicit LedgerPanel(const Look& look, QWidget* parent = nullptr);

    void setLedger(std::shared_ptr<const tracing::RunLedger> ledger);
    void setChoice(const LedgerChoice& choice);
    const LedgerChoice& choice() const { return choice_; }
    const LedgerModel& model() const { return model_; }
    LedgerTable& table() { return *table_; }
    GroupBars& bars() { return *bars_; }
    /// Selects the first line that is drawn as this leaf.
    void selectLeaf(Leaf leaf);
    /// What is marked on the timeline, in words; empty: nothing, then there is nothing to show there either.
    void setMarked(const QString& words);
    void setProblem(const QString& words); ///< why nothing can be marked

signals:
    void lineSelected(); ///< or none any more: table().selectedLine()
    void timelineRequested(); ///< at what is marked
    void groupRequested(const rankscope::app::LedgerGroup& group);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildChoices();
    QButtonGroup* addSwitch(QBoxLayout* row, const QString& title, const QStringList& words);
    void takeSteps();
    void showModel();

    const Look& look_;
    std::shared_ptr<const tracing::RunLedger> ledger_;
    LedgerChoice choice_;
    LedgerModel model_;
    QButtonGroup* by_;
    QButtonGroup* unit_;
    QButtonGroup* count_;
    QLineEdit* steps_;
    QLabel* stepsProblem_;
    LedgerTable* table_;
    QLabel* notes_;
    QLabel* marked_;
    QPushButton* show_;
    QLabel* groupsTitle_;
    QLabel* groupsHint_;
    GroupBars* bars_;
    QBoxLayout* halves_;
    QBoxLayout* choices_;
};

} // namespace rankscope::app
