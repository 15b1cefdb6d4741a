#pragma once

#include "app/panels/error_page.h"
#include "app/panels/ledger_panel.h"
#include "app/session/ledger_feed.h"
#include "app/session/run_session.h"

#include <QStackedWidget>

#include <optional>

class QLabel;

namespace rankscope::app {

/// The ledger, or what stands in its place. It is counted when it is first looked at; what a person selects in it is
/// looked up for the timeline.
class LedgerPage : public QStackedWidget {
    Q_OBJECT

public:
    LedgerPage(RunSession& session, LedgerFeed& feed, const Look& look, QWidget* parent = nullptr);

    LedgerPanel& panel() { return *panel_; }
    /// Selects the first line that is drawn as this leaf, as soon as there is one.
    void selectLeaf(Leaf leaf);
    bool isSettled() const; ///< what stands here will not change by itself

signals:
    void marked(const rankscope::tracing::LeafStretches& stretches);
    void unmarked();
    void changed(); ///< look at isSettled()

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void update();
    void takeLine();
    void takeStretches(const tracing::LeafStretches& stretches);

    RunSession& session_;
    LedgerFeed& feed_;
    std::optional<Leaf> wantedLeaf_;
    QLabel* waiting_;
    LedgerPanel* panel_;
    ErrorPage* error_;
};

} // namespace rankscope::app
