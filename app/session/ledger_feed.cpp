#include "app/session/ledger_feed.h"

#include "tracing/analysis/load.h"

#include <algorithm>

namespace rankscope::app {
namespace {

constexpr qint64 kLeastPauseMs = 250;
constexpr qint64 kPauseFactor = 3; // work one part, rest three

tracing::Result<tracing::RunLedger> look(tracing::LiveLedger& live, tracing::TraceReader& reader)
{
    auto facts = tracing::loadFactsWithoutSteps(reader);
    if (!facts)
        return facts.error();
    return live.refresh(reader, *facts);
}

} // namespace

LedgerFeed::LedgerFeed(RunSession& session, QObject* parent)
    : QObject(parent)
    , session_(session)
    , live_(std::make_shared<tracing::LiveLedger>())
{
    timer_.setSingleShot(true);
    connect(&timer_, &QTimer::timeout, this, &LedgerFeed::start);
    connect(&session_, &RunSession::snapshotChanged, this, &LedgerFeed::wake);
    connect(&session_, &RunSession::stateChanged, this, [this] {
        if (session_.state() == RunSession::State::Open)
            return;
        slot_.forget();
        timer_.stop();
        running_ = false;
        doneVersion_ = -1;
        live_ = std::make_shared<tracing::LiveLedger>();
        ledger_.reset();
    });
}

void LedgerFeed::wake()
{
    if (!running_ && !timer_.isActive())
        timer_.start(0);
}

void LedgerFeed::start()
{
    const auto snapshot = session_.snapshot();
    const bool grows = snapshot && !snapshot->run.finished && snapshot->run.source == tracing::kOwnSource;
    if (!grows || snapshot->dataVersion == doneVersion_)
        return;
    running_ = true;
    startedVersion_ = snapshot->dataVersion;
    clock_.start();
    session_.ledgerThread().post<tracing::RunLedger>(
        slot_, [live = live_](tracing::TraceReader& reader) { return look(*live, reader); }, this,
        [this](tracing::Result<tracing::RunLedger> result) { take(std::move(result)); });
}

/// An error is the analysis' to tell: it reads the same file.
void LedgerFeed::take(tracing::Result<tracing::RunLedger> result)
{
    running_ = false;
    doneVersion_ = startedVersion_;
    const auto snapshot = session_.snapshot();
    if (snapshot && snapshot->dataVersion != doneVersion_)
        timer_.start(static_cast<int>(std::max(kLeastPauseMs, kPauseFactor * clock_.elapsed())));
    if (!result)
        return;
    ledger_ = std::make_shared<const tracing::RunLedger>(std::move(*result));
    emit changed();
}

} // namespace rankscope::app
