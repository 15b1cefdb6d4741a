#include "app/timeline/loader.h"

#include "app/timeline/core/lane_source.h"
#include "app/timeline/core/ledger_source.h"

#include <QMetaObject>

#include <algorithm>

namespace rankscope::app::timeline {
namespace {

constexpr int kLaneThreads = 2;

} // namespace

CollectiveDetails readCollective(tracing::TraceReader& reader, const RunFacts& facts, const SpanRecord& span)
{
    CollectiveDetails details;
    details.instance = span.instance;
    const auto parts = reader.partsOf(tracing::InstanceId{ span.instance });
    if (!parts)
        return details;
    tracing::Window window{ span.beginNs, span.endNs };
    for (const tracing::CollectivePart& part : *parts) {
        const auto lane = std::find_if(facts.lanes.begin(), facts.lanes.end(),
            [&](const tracing::Lane& candidate) { return candidate.id == part.lane; });
        if (lane != facts.lanes.end())
            details.parts.push_back({ lane->rank, part });
        window = { std::min(window.beginNs, part.beginNs), std::max(window.endNs, part.endNs) };
    }
    std::sort(details.parts.begin(), details.parts.end(),
        [](const SelectedPart& a, const SelectedPart& b) { return a.rank < b.rank; });
    if (const auto matches = reader.matches(window)) {
        for (const tracing::CollectiveMatch& match : *matches) {
            if (raw(match.id) == span.instance)
                details.match = match;
        }
    }
    return details;
}

Minimap readMinimap(tracing::TraceReader& reader, const RunFacts& facts, int columns)
{
    MinimapBuilder builder(facts.window, columns);
    const double nsPerPx = static_cast<double>(facts.window.durationNs()) / std::max(1, columns);
    for (const tracing::Lane& lane : facts.lanes) {
        if (lane.kind != tracing::LaneKind::Compute && lane.kind != tracing::LaneKind::Communication)
            continue;
        if (const auto content = loadLane(reader, facts, lane, facts.window, nsPerPx))
            builder.add(*content);
    }
    return builder.finish(static_cast<int>(facts.ranks.size()));
}

Loader::Loader(const std::string& path, QObject* parent)
    : QObject(parent)
    , factsPool_(path, 1,
          [this](const tracing::Error& error) {
              deliver([this, message = QString::fromStdString(error.message())] {
                  polling_ = false;
                  emit failed(message);
              });
          })
    , lanePool_(path, kLaneThreads, [](const tracing::Error&) {}) // the facts' thread has said it already
{
}

template <typename Function> void Loader::deliver(Function function)
{
    QMetaObject::invokeMethod(this, std::move(function), Qt::QueuedConnection);
}

template <typename Function> void Loader::deliverContent(tracing::Result<LaneContent> content, Function ready)
{
    deliver([this, content = std::move(content), ready = std::move(ready)]() mutable {
        if (content)
            ready(std::make_shared<const LaneContent>(std::move(*content)));
        else
            emit failed(QString::fromStdString(content.error().message()));
    });
}

void Loader::readFacts(tracing::TraceReader& reader)
{
    const auto version = reader.dataVersion();
    if (version && *version == knownVersion_) {
        deliver([this] { polling_ = false; });
        return;
    }
    auto facts = readRunFacts(reader);
    if (facts)
        knownVersion_ = (*facts)->dataVersion;
    deliver([this, facts = std::move(facts)] {
        polling_ = false;
        if (facts)
            emit factsRead(*facts);
        else
            emit failed(QString::fromStdString(facts.error().message()));
    });
}

void Loader::poll()
{
    if (polling_)
        return;
    polling_ = true;
    factsPool_.post([this](tracing::TraceReader& reader) { readFacts(reader); });
}

void Loader::requestLanes(std::uint64_t job, const Request& request)
{
    const auto shared = std::make_shared<const Request>(request);
    std::vector<ReaderPool::Task> tasks;
    for (const std::size_t lane : request.lanes) {
        tasks.push_back([this, job, shared, lane](tracing::TraceReader& reader) {
            auto content
                = loadLane(reader, *shared->facts, shared->facts->lanes[lane], shared->window, shared->nsPerPx);
            deliverContent(std::move(content), [this, job](const ContentPtr& ready) { emit laneLoaded(job, ready); });
        });
    }
    for (const std::int32_t rank : request.ledgers) {
        tasks.push_back([this, job, shared, rank](tracing::TraceReader& reader) {
            auto content
                = loadLedger(reader, *shared->facts, shared->ledger.get(), rank, shared->window, shared->nsPerPx);
            deliverContent(std::move(content),
                [this, job, rank](const ContentPtr& ready) { emit ledgerLoaded(job, rank, ready); });
        });
    }
    lanePool_.replaceAll(std::move(tasks));
}

void Loader::requestCollective(FactsPtr facts, const SpanRecord& span)
{
    factsPool_.post([this, facts, span](tracing::TraceReader& reader) {
        deliver([this, details = readCollective(reader, *facts, span)] { emit collectiveRead(details); });
    });
}

void Loader::requestMinimap(FactsPtr facts, int columns)
{
    factsPool_.post([this, facts, columns](tracing::TraceReader& reader) {
        auto minimap = std::make_shared<const Minimap>(readMinimap(reader, *facts, columns));
        deliver([this, minimap = std::move(minimap)] { emit minimapRead(minimap); });
    });
}

void Loader::release()
{
    factsPool_.release();
    lanePool_.release();
}

} // namespace rankscope::app::timeline
