#include "app/session/ledger_feed.h"

#include "tracing/analysis/load.h"

namespace rankscope::app {
namespace {

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
    , pace_([this] { start(); })
{
    connect(&session_, &RunSession::snapshotChanged, this, [this] { pace_.wake(); });
    connect(&session_, &RunSession::stateChanged, this, [this] {
        if (session_.state() == RunSession::State::Open)
            return;
        slot_.forget();
        pace_.reset();
        live_ = std::make_shared<tracing::LiveLedger>();
        ledger_.reset();
    });
}

void LedgerFeed::start()
{
    const auto snapshot = session_.snapshot();
    const bool grows = snapshot && !snapshot->run.finished && snapshot->run.source == tracing::kOwnSource;
    if (!grows || snapshot->dataVersion == pace_.counted())
        return;
    pace_.begin(snapshot->dataVersion);
    session_.ledgerThread().post<tracing::RunLedger>(
        slot_, [live = live_](tracing::TraceReader& reader) { return look(*live, reader); }, this,
        [this](tracing::Result<tracing::RunLedger> result) { take(std::move(result)); });
}

/// An error is the analysis' to tell: it reads the same file.
void LedgerFeed::take(tracing::Result<tracing::RunLedger> result)
{
    const auto snapshot = session_.snapshot();
    pace_.end(snapshot ? std::optional(snapshot->dataVersion) : std::nullopt);
    if (!result)
        return;
    ledger_ = std::make_shared<const tracing::RunLedger>(std::move(*result));
    emit changed();
}

} // namespace rankscope::app
