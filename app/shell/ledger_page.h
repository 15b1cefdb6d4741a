#pragma once

#include "app/panels/error_page.h"
#include "app/panels/ledger_panel.h"
#include "app/session/analysis_feed.h"
#include "app/session/leaf_search.h"
#include "app/session/run_session.h"

#include <QStackedWidget>

#include <optional>

class QLabel;

namespace rankscope::app {

/// The ledger, or what stands in its place. What a person selects in it is looked up for the timeline.
class LedgerPage : public QStackedWidget {
    Q_OBJECT

public:
    LedgerPage(RunSession& session, AnalysisFeed& feed, const Look& look, QWidget* parent = nullptr);

    LedgerPanel& panel() { return *panel_; }
    /// Selects the first line that is drawn as this leaf, as soon as there is one.
    void selectLeaf(Leaf leaf);
    bool isSettled() const; ///< what stands here will not change by itself

signals:
    void marked(const rankscope::tracing::LeafStretches& stretches);
    void unmarked();
    void changed(); ///< look at isSettled()

private:
    void update();
    void takeLine();
    void takeStretches(const tracing::LeafStretches& stretches);

    RunSession& session_;
    AnalysisFeed& feed_;
    LeafSearch search_;
    std::optional<Leaf> wantedLeaf_;
    QLabel* waiting_;
    LedgerPanel* panel_;
    ErrorPage* error_;
};

} // namespace rankscope::app
