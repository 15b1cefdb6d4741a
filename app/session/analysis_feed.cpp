#include "app/session/analysis_feed.h"

#include <algorithm>

namespace rankscope::app {
namespace {

constexpr qint64 kLeastPauseMs = 250;
constexpr qint64 kPauseFactor = 3; // work one part, rest three

} // namespace

AnalysisFeed::AnalysisFeed(RunSession& session, QObject* parent)
    : QObject(parent)
    , session_(session)
    , live_(session)
{
    connect(&live_, &LedgerFeed::changed, this, &AnalysisFeed::changed);
    timer_.setSingleShot(true);
    connect(&timer_, &QTimer::timeout, this, &AnalysisFeed::start);
    connect(&session_, &RunSession::snapshotChanged, this, &AnalysisFeed::wake);
    connect(&session_, &RunSession::stateChanged, this, [this] {
        if (session_.state() == RunSession::State::Open)
            return;
        slot_.forget();
        timer_.stop();
        running_ = false;
        doneVersion_ = -1;
        run_.reset();
        error_.clear();
        emit changed();
    });
}

bool AnalysisFeed::isComplete() const
{
    const auto snapshot = session_.snapshot();
    return run_ && snapshot && snapshot->run.finished && doneVersion_ == snapshot->dataVersion;
}

std::shared_ptr<const tracing::RunLedger> AnalysisFeed::ledger() const
{
    const auto live = live_.ledger();
    return live && !isComplete() ? live : part(&tracing::AnalysedRun::ledger);
}

void AnalysisFeed::wake()
{
    if (!running_ && !timer_.isActive())
        timer_.start(0);
}

void AnalysisFeed::start()
{
    const auto snapshot = session_.snapshot();
    if (!snapshot || snapshot->dataVersion == doneVersion_)
        return;
    running_ = true;
    startedVersion_ = snapshot->dataVersion;
    clock_.start();
    session_.analysisThread().post<tracing::AnalysedRun>(
        slot_,
        [options = options_](tracing::TraceReader& reader) { return tracing::analyseWithLedger(reader, options); },
        this, [this](tracing::Result<tracing::AnalysedRun> result) { take(std::move(result)); });
}

void AnalysisFeed::take(tracing::Result<tracing::AnalysedRun> result)
{
    running_ = false;
    doneVersion_ = startedVersion_;
    if (result) {
        run_ = std::make_shared<const tracing::AnalysedRun>(std::move(*result));
        error_.clear();
    } else {
        error_ = QString::fromStdString(result.error().message());
    }
    const auto snapshot = session_.snapshot();
    if (snapshot && snapshot->dataVersion != doneVersion_)
        timer_.start(static_cast<int>(std::max(kLeastPauseMs, kPauseFactor * clock_.elapsed())));
    emit changed();
}

} // namespace rankscope::app
