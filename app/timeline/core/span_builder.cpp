#include "app/timeline/core/span_builder.h"

#include <algorithm>

namespace rankscope::app::timeline {

using tracing::SpanClass;

namespace {

template <typename Row> SpanRecord base(const Row& row, RowKind kind, SpanClass spanClass)
{
    SpanRecord span;
    span.beginNs = row.beginNs;
    span.endNs = row.endNs;
    span.row = kind;
    span.spanClass = spanClass;
    return span;
}

SpanClass classOf(tracing::RangeKind kind)
{
    using tracing::RangeKind;
    switch (kind) {
    case RangeKind::Data:
        return SpanClass::Data;
    case RangeKind::Checkpoint:
        return SpanClass::Checkpoint;
    case RangeKind::Start:
    case RangeKind::Shutdown:
        return SpanClass::Start;
    case RangeKind::Recovery:
        return SpanClass::Lost;
    default:
        return SpanClass::Host;
    }
}

} // namespace

SpanRecord spanOf(const tracing::Kernel& row, const RunFacts& facts)
{
    SpanRecord span = base(row, RowKind::Kernel, SpanClass::Compute);
    span.cpuNs = row.cpuNs;
    span.microBatch = row.microBatch;
    const auto index = static_cast<std::size_t>(raw(row.signature));
    if (index < facts.signatures.size()) {
        const tracing::KernelSignature& signature = facts.signatures[index];
        span.name = raw(signature.name);
        span.pass = signature.pass;
        span.flop = signature.flop;
        span.bytes = signature.bytes;
        if (signature.pass == tracing::Pass::Recompute)
            span.spanClass = SpanClass::Recompute;
    }
    return span;
}

SpanRecord spanOf(const tracing::Copy& row)
{
    SpanRecord span = base(row, RowKind::Copy, SpanClass::Copy);
    span.name = raw(row.name);
    span.bytes = row.bytes;
    return span;
}

SpanRecord spanOf(const tracing::HostCall& row)
{
    SpanRecord span = base(row, RowKind::HostCall, SpanClass::Host);
    span.name = raw(row.name);
    return span;
}

SpanRecord spanOf(const tracing::Bubble& row)
{
    SpanRecord span = base(row, RowKind::Bubble, SpanClass::Bubble);
    span.phase = row.phase;
    span.pass = row.pass;
    span.peer = row.awaitedRank;
    span.microBatch = row.microBatch;
    return span;
}

SpanRecord spanOf(const tracing::Range& row)
{
    SpanRecord span = base(row, RowKind::Range, classOf(row.kind));
    span.name = raw(row.name);
    span.range = row.kind;
    span.level = static_cast<std::int16_t>(std::clamp(row.depth, 0, 31));
    span.step = row.step;
    span.microBatch = row.microBatch;
    span.cpuNs = row.cpuNs;
    return span;
}

SpanRecord spanOf(
    const tracing::CollectivePart& row, const tracing::SplitPart& split, const tracing::CollectiveMatch* match)
{
    SpanRecord span = base(row, RowKind::Collective, SpanClass::Communication);
    span.name = raw(row.name);
    span.op = row.op;
    span.instance = raw(row.instance);
    span.bytes = row.bytes;
    span.peer = row.peer;
    span.microBatch = row.microBatch;
    span.cpuNs = row.cpuNs;
    if (!split.isSplit)
        return span;
    span.matched = true;
    span.splitNs = split.splitNs;
    span.lateRank = split.lateRank;
    span.spanClass = split.waitNs() > split.transferNs() ? SpanClass::Wait : SpanClass::Transfer;
    if (match != nullptr) {
        span.lateRank = split.lateRank ? split.lateRank : match->lateRank;
        span.lateNs = match->lastEntryNs - match->firstEntryNs;
    }
    return span;
}

} // namespace rankscope::app::timeline
