#include "app/session/ledger_feed.h"

#include "tracing/analysis/load.h"

#include <algorithm>

namespace rankscope::app {
namespace {

constexpr qint64 kLeastPauseMs = 1000;
constexpr qint64 kPauseFactor = 3; // work one part, rest three

tracing::Result<tracing::RunLedger> readLedger(tracing::TraceReader& reader)
{
    const auto facts = tracing::loadFacts(reader);
    if (!facts)
        return facts.error();
    return tracing::runLedger(reader, *facts);
}

tracing::Result<tracing::LeafStretches> readStretches(tracing::TraceReader& reader, const tracing::LeafChoice& choice)
{
    const auto facts = tracing::loadFacts(reader);
    if (!facts)
        return facts.error();
    return tracing::readLeafStretches(reader, *facts, choice);
}

} // namespace

LedgerFeed::LedgerFeed(RunSession& session, QObject* parent)
    : QObject(parent)
    , session_(session)
{
    timer_.setSingleShot(true);
    connect(&timer_, &QTimer::timeout, this, &LedgerFeed::start);
    connect(&session_, &RunSession::snapshotChanged, this, &LedgerFeed::wake);
    connect(&session_, &RunSession::stateChanged, this, [this] {
        if (session_.state() == RunSession::State::Open)
            return;
        slot_.forget();
        forgetStretches();
        timer_.stop();
        running_ = false;
        doneVersion_ = -1;
        result_.reset();
        error_.clear();
        emit changed();
    });
}

void LedgerFeed::setWanted(bool wanted)
{
    wanted_ = wanted;
    wake();
}

void LedgerFeed::wake()
{
    if (wanted_ && !running_ && !timer_.isActive())
        timer_.start(0);
}

void LedgerFeed::start()
{
    const auto snapshot = session_.snapshot();
    if (!wanted_ || !snapshot || snapshot->dataVersion == doneVersion_)
        return;
    running_ = true;
    startedVersion_ = snapshot->dataVersion;
    clock_.start();
    session_.analysisThread().post<tracing::RunLedger>(
        slot_, readLedger, this, [this](tracing::Result<tracing::RunLedger> result) { take(std::move(result)); });
}

void LedgerFeed::take(tracing::Result<tracing::RunLedger> result)
{
    running_ = false;
    doneVersion_ = startedVersion_;
    if (result) {
        result_ = std::make_shared<const tracing::RunLedger>(std::move(*result));
        error_.clear();
    } else {
        error_ = QString::fromStdString(result.error().message());
    }
    const auto snapshot = session_.snapshot();
    if (snapshot && snapshot->dataVersion != doneVersion_)
        timer_.start(static_cast<int>(std::max(kLeastPauseMs, kPauseFactor * clock_.elapsed())));
    emit changed();
}

void LedgerFeed::findStretches(const tracing::LeafChoice& choice)
{
    finding_ = true;
    session_.analysisThread().post<tracing::LeafStretches>(
        stretchSlot_, [choice](tracing::TraceReader& reader) { return readStretches(reader, choice); }, this,
        [this](tracing::Result<tracing::LeafStretches> result) {
            finding_ = false;
            if (result)
                emit found(*result);
            else
                error_ = QString::fromStdString(result.error().message());
        });
}

void LedgerFeed::forgetStretches()
{
    stretchSlot_.forget();
    finding_ = false;
}

} // namespace rankscope::app
