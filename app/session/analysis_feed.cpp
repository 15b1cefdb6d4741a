#include "app/session/analysis_feed.h"

namespace rankscope::app {
AnalysisFeed::AnalysisFeed(RunSession& session, QObject* parent)
    : QObject(parent)
    , session_(session)
    , live_(session)
    , pace_([this] { start(); })
{
    connect(&live_, &LedgerFeed::changed, this, &AnalysisFeed::changed);
    connect(&session_, &RunSession::snapshotChanged, this, [this] { pace_.wake(); });
    connect(&session_, &RunSession::stateChanged, this, [this] {
        if (session_.state() == RunSession::State::Open)
            return;
        slot_.forget();
        pace_.reset();
        run_.reset();
        error_.clear();
        emit changed();
    });
}

bool AnalysisFeed::isComplete() const
{
    const auto snapshot = session_.snapshot();
    return run_ && snapshot && snapshot->run.finished && pace_.counted() == snapshot->dataVersion;
}

std::shared_ptr<const tracing::RunLedger> AnalysisFeed::ledger() const
{
    const auto live = live_.ledger();
    return live && !isComplete() ? live : part(&tracing::AnalysedRun::ledger);
}

void AnalysisFeed::start()
{
    const auto snapshot = session_.snapshot();
    if (!snapshot || snapshot->dataVersion == pace_.counted())
        return;
    pace_.begin(snapshot->dataVersion);
    session_.analysisThread().post<tracing::AnalysedRun>(
        slot_,
        [options = options_](tracing::TraceReader& reader) { return tracing::analyseWithLedger(reader, options); },
        this, [this](tracing::Result<tracing::AnalysedRun> result) { take(std::move(result)); });
}

void AnalysisFeed::take(tracing::Result<tracing::AnalysedRun> result)
{
    if (result) {
        run_ = std::make_shared<const tracing::AnalysedRun>(std::move(*result));
        error_.clear();
    } else {
        error_ = QString::fromStdString(result.error().message());
    }
    const auto snapshot = session_.snapshot();
    pace_.end(snapshot ? std::optional(snapshot->dataVersion) : std::nullopt);
    emit changed();
}

} // namespace rankscope::app
