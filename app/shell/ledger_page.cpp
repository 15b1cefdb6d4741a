#include "app/shell/ledger_page.h"

#include "app/models/overview_model.h"
#include "tracing/analysis/wording.h"

#include <QLabel>

#include <utility>

namespace rankscope::app {
namespace {

QString markedText(const tracing::LeafStretches& stretches)
{
    std::int64_t count = 0;
    std::int64_t ns = 0;
    for (const auto& [rank, ofRank] : stretches) {
        count += std::ssize(ofRank);
        for (const tracing::Window& stretch : ofRank)
            ns += stretch.durationNs();
    }
    return QStringLiteral("Marked on the timeline: %1 on %2, %3")
        .arg(count == 1 ? QStringLiteral("1 stretch")
                        : QString::fromStdString(tracing::countText(count)) + QStringLiteral(" stretches"),
            QString::fromStdString(tracing::plural(std::ssize(stretches), "rank")), rankTime(ns));
}

} // namespace

LedgerPage::LedgerPage(RunSession& session, AnalysisFeed& feed, const Look& look, QWidget* parent)
    : QStackedWidget(parent)
    , session_(session)
    , feed_(feed)
    , search_(session)
    , waiting_(new QLabel)
    , panel_(new LedgerPanel(look))
    , error_(new ErrorPage)
{
    waiting_->setProperty("look", "cause");
    waiting_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    waiting_->setMargin(24);
    waiting_->setText(tr("Putting every nanosecond into its leaf…"));
    addWidget(waiting_);
    addWidget(panel_);
    addWidget(error_);
    connect(&feed_, &AnalysisFeed::changed, this, &LedgerPage::update);
    connect(&search_, &LeafSearch::found, this, &LedgerPage::takeStretches);
    connect(&search_, &LeafSearch::failed, this, [this](const QString& message) {
        panel_->setMarked({});
        panel_->setProblem(message);
        emit changed();
    });
    connect(panel_, &LedgerPanel::lineSelected, this, &LedgerPage::takeLine);
    update();
}

void LedgerPage::update()
{
    if (const auto ledger = feed_.ledger()) {
        panel_->setLedger(ledger);
        setCurrentWidget(panel_);
        if (wantedLeaf_)
            panel_->selectLeaf(*std::exchange(wantedLeaf_, std::nullopt));
    } else if (!feed_.error().isEmpty()) {
        error_->setError(session_.path(), feed_.error());
        setCurrentWidget(error_);
    } else {
        panel_->table().clearSelection();
        setCurrentWidget(waiting_);
    }
    emit changed();
}

bool LedgerPage::isSettled() const { return (feed_.ledger() || !feed_.error().isEmpty()) && !search_.isRunning(); }

void LedgerPage::selectLeaf(Leaf leaf)
{
    if (feed_.ledger())
        panel_->selectLeaf(leaf);
    else
        wantedLeaf_ = leaf;
}

void LedgerPage::takeLine()
{
    if (const auto line = panel_->table().selectedLine()) {
        panel_->setMarked(tr("Looking for it…"));
        search_.find(*line);
    } else {
        search_.forget();
        panel_->setMarked({});
        emit unmarked();
    }
}

void LedgerPage::takeStretches(const tracing::LeafStretches& stretches)
{
    panel_->setMarked(markedText(stretches));
    emit marked(stretches);
    emit changed();
}

} // namespace rankscope::app
