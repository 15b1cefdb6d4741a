#include "tracing/export/traces/span_source.h"

#include <algorithm>
#include <limits>
#include <map>

namespace rankscope::tracing {

namespace {

constexpr Window kAlways{ std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max() };
constexpr std::int64_t kMatchChunks = 64; ///< their rows are wide and there may be millions

} // namespace

std::string_view toString(ExportKind kind)
{
    switch (kind) {
    case ExportKind::Kernel:
        return "kernel";
    case ExportKind::Copy:
        return "copy";
    case ExportKind::HostCall:
        return "host call";
    case ExportKind::Collective:
        return "collective";
    case ExportKind::Bubble:
        return "bubble";
    case ExportKind::Range:
        break;
    }
    return "range";
}

SpanSource::SpanSource(TraceReader& reader, const RunFacts& facts)
    : reader_(reader)
    , facts_(facts)
{
}

Result<SpanSource> SpanSource::open(TraceReader& reader, const RunFacts& facts)
{
    SpanSource source(reader, facts);
    if (const Status loaded = source.loadInstances(); !loaded)
        return loaded.error();
    return source;
}

Status SpanSource::loadInstances()
{
    std::map<CommunicatorId, std::int32_t> places;
    for (std::size_t i = 0; i < facts_.communicators.size(); ++i)
        places[facts_.communicators[i].id] = static_cast<std::int32_t>(i);
    const Window all = facts_.window;
    const std::int64_t chunkNs = std::max<std::int64_t>(1, all.durationNs() / kMatchChunks + 1);
    for (std::int64_t beginNs = all.beginNs; beginNs <= all.endNs; beginNs += chunkNs) {
        const auto matches = reader_.matches({ beginNs, beginNs + chunkNs });
        if (!matches)
            return matches.error();
        for (const CollectiveMatch& match : *matches) {
            const auto place = places.find(match.communicator);
            instances_[raw(match.id)] = { match.sequence, match.firstEntryNs,
                place == places.end() ? -1 : place->second, match.partsPresent };
        }
    }
    return Done{};
}

std::string_view SpanSource::nameOf(NameId id) const
{
    const auto index = static_cast<std::size_t>(raw(id));
    return index < facts_.names.size() ? std::string_view(facts_.names[index]) : std::string_view();
}

ExportedSpan SpanSource::spanOf(const Kernel& row) const
{
    ExportedSpan span{ .kind = ExportKind::Kernel, .when = { row.beginNs, row.endNs }, .name = {} };
    const auto index = static_cast<std::size_t>(raw(row.signature));
    if (index < facts_.signatures.size()) {
        const KernelSignature& signature = facts_.signatures[index];
        span.name = nameOf(signature.name);
        span.pass = signature.pass;
        span.flop = signature.flop;
        span.bytes = signature.bytes;
        span.redundantFlop = signature.redundantFlop;
        span.threads = signature.threads;
        span.dtype = signature.dtype;
    }
    span.cpuNs = row.cpuNs;
    span.microBatch = row.microBatch;
    span.work = row.work;
    span.correlation = row.correlation;
    return span;
}

ExportedSpan SpanSource::spanOf(const Copy& row) const
{
    ExportedSpan span{ .kind = ExportKind::Copy, .when = { row.beginNs, row.endNs }, .name = nameOf(row.name) };
    span.bytes = row.bytes;
    span.correlation = row.correlation;
    return span;
}

ExportedSpan SpanSource::spanOf(const HostCall& row) const
{
    ExportedSpan span{ .kind = ExportKind::HostCall, .when = { row.beginNs, row.endNs }, .name = nameOf(row.name) };
    span.correlation = row.correlation;
    return span;
}

ExportedSpan SpanSource::spanOf(const CollectivePart& row) const
{
    ExportedSpan span{ .kind = ExportKind::Collective, .when = { row.beginNs, row.endNs }, .name = nameOf(row.name) };
    span.op = row.op;
    span.instance = row.instance;
    span.bytes = row.bytes;
    span.peer = row.peer;
    span.launchGroup = row.launchGroup;
    span.microBatch = row.microBatch;
    span.cpuNs = row.cpuNs;
    span.correlation = row.correlation;
    const auto found = instances_.find(raw(row.instance));
    if (found == instances_.end())
        return span;
    const Instance& instance = found->second;
    span.sequence = instance.sequence;
    span.partsPresent = instance.partsPresent;
    span.isFirst = row.beginNs == instance.firstEntryNs;
    if (instance.communicator >= 0)
        span.communicator = &facts_.communicators[static_cast<std::size_t>(instance.communicator)];
    return span;
}

ExportedSpan SpanSource::spanOf(const Bubble& row) const
{
    ExportedSpan span{ .kind = ExportKind::Bubble, .when = { row.beginNs, row.endNs }, .name = "bubble" };
    span.phase = row.phase;
    span.stage = row.stage;
    span.microBatch = row.microBatch;
    span.peer = row.awaitedRank;
    span.pass = row.pass;
    return span;
}

ExportedSpan SpanSource::spanOf(const Range& row) const
{
    ExportedSpan span{ .kind = ExportKind::Range, .when = { row.beginNs, row.endNs }, .name = nameOf(row.name) };
    span.range = row.kind;
    span.depth = row.depth;
    span.step = row.step;
    span.microBatch = row.microBatch;
    span.cpuNs = row.cpuNs;
    return span;
}

template <typename Row>
Status SpanSource::visitRows(const Lane& lane, const std::function<bool(const ExportedSpan&)>& visitor)
{
    // Rows come by begin; those that begin together wait until they are all there.
    std::vector<Row> together;
    bool goesOn = true;
    const auto handOut = [&] {
        std::ranges::stable_sort(together, std::ranges::greater(), &Row::endNs);
        for (const Row& row : together)
            goesOn = goesOn && visitor(spanOf(row));
        together.clear();
    };
    const Status done = reader_.visit<Row>(lane.id, kAlways, [&](std::span<const Row> rows) {
        for (const Row& row : rows) {
            if (!together.empty() && together.front().beginNs != row.beginNs)
                handOut();
            if (!goesOn)
                return false;
            together.push_back(row);
        }
        return true;
    });
    handOut();
    return done;
}

Status SpanSource::visit(const Lane& lane, ExportKind kind, const std::function<bool(const ExportedSpan&)>& visitor)
{
    switch (kind) {
    case ExportKind::Kernel:
        return visitRows<Kernel>(lane, visitor);
    case ExportKind::Copy:
        return visitRows<Copy>(lane, visitor);
    case ExportKind::HostCall:
        return visitRows<HostCall>(lane, visitor);
    case ExportKind::Collective:
        return visitRows<CollectivePart>(lane, visitor);
    case ExportKind::Bubble:
        return visitRows<Bubble>(lane, visitor);
    case ExportKind::Range:
        break;
    }
    return visitRows<Range>(lane, visitor);
}

Status SpanSource::visitSamples(const Lane& lane, const std::function<bool(const CounterSample&)>& visitor)
{
    return reader_.visit<CounterSample>(lane.id, kAlways,
        [&](std::span<const CounterSample> samples) { return std::ranges::all_of(samples, visitor); });
}

} // namespace rankscope::tracing
