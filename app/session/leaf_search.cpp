#include "app/session/leaf_search.h"

#include "tracing/analysis/load.h"

namespace rankscope::app {
namespace {

tracing::Result<tracing::LeafStretches> readStretches(tracing::TraceReader& reader, const tracing::LeafChoice& choice)
{
    const auto facts = tracing::loadFacts(reader);
    if (!facts)
        return facts.error();
    return tracing::readLeafStretches(reader, *facts, choice);
}

} // namespace

LeafSearch::LeafSearch(RunSession& session, QObject* parent)
    : QObject(parent)
    , session_(session)
{
    connect(&session_, &RunSession::stateChanged, this, [this] {
        if (session_.state() != RunSession::State::Open)
            forget();
    });
}

void LeafSearch::find(const tracing::LeafChoice& choice)
{
    running_ = true;
    session_.analysisThread().post<tracing::LeafStretches>(
        slot_, [choice](tracing::TraceReader& reader) { return readStretches(reader, choice); }, this,
        [this](tracing::Result<tracing::LeafStretches> result) {
            running_ = false;
            if (result)
                emit found(*result);
            else
                emit failed(QString::fromStdString(result.error().message()));
        });
}

void LeafSearch::forget()
{
    slot_.forget();
    running_ = false;
}

} // namespace rankscope::app
