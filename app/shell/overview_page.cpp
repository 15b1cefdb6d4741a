#include "app/shell/overview_page.h"

#include <QLabel>

namespace rankscope::app {

OverviewPage::OverviewPage(RunSession& session, AnalysisFeed& feed, const Look& look, bool canShow, QWidget* parent)
    : QStackedWidget(parent)
    , session_(session)
    , feed_(feed)
    , waiting_(new QLabel)
    , panel_(new OverviewPanel(look, canShow))
    , error_(new ErrorPage)
{
    waiting_->setProperty("look", "cause");
    waiting_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    waiting_->setMargin(24);
    addWidget(waiting_);
    addWidget(panel_);
    addWidget(error_);
    connect(&feed_, &AnalysisFeed::changed, this, &OverviewPage::update);
    connect(&session_, &RunSession::stateChanged, this, &OverviewPage::update);
    connect(&session_, &RunSession::stateChanged, this, &OverviewPage::updateAlerts);
    connect(&session_, &RunSession::snapshotChanged, this, &OverviewPage::updateAlerts);
    update();
}

/// Alerts come with every look at the file, analyses more seldom.
void OverviewPage::updateAlerts()
{
    const auto run = session_.snapshot();
    panel_->setAlerts(run ? alertCards(run->alerts, run->window) : std::vector<FindingCard>());
}

void OverviewPage::update()
{
    if (const auto result = feed_.result()) {
        panel_->setModel(overviewModel(*result));
        setCurrentWidget(panel_);
    } else if (!feed_.error().isEmpty()) {
        error_->setError(session_.path(), feed_.error());
        setCurrentWidget(error_);
    } else {
        waiting_->setText(tr("Counting where the time goes…"));
        setCurrentWidget(waiting_);
    }
}

} // namespace rankscope::app
