#pragma once

#include "app/panels/error_page.h"
#include "app/panels/overview_panel.h"
#include "app/session/analysis_feed.h"
#include "app/session/run_session.h"

#include <QStackedWidget>

class QLabel;

namespace rankscope::app {

/// The overview, or what stands in its place: "counting" before the first result, or why there is none.
class OverviewPage : public QStackedWidget {
    Q_OBJECT

public:
    OverviewPage(RunSession& session, AnalysisFeed& feed, const Look& look, bool canShow, QWidget* parent = nullptr);

    OverviewPanel& panel() { return *panel_; }

private:
    void update();
    void updateAlerts();

    RunSession& session_;
    AnalysisFeed& feed_;
    QLabel* waiting_;
    OverviewPanel* panel_;
    ErrorPage* error_;
};

} // namespace rankscope::app
