#pragma once

#include "app/timeline/core/records.h"
#include "app/timeline/core/run_facts.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

namespace rankscope::app::timeline {

/// Reads one lane for one window and folds it: from tiles where the window holds many events, from rows where it holds
/// few. Runs on a worker thread; what it reads is bounded by the pixels of the window.
tracing::Result<LaneContent> loadLane(tracing::TraceReader& reader, const RunFacts& facts, const tracing::Lane& lane,
    tracing::Window window, double nsPerPx);

/// The named row that begins and ends exactly so; the given span where there is none.
SpanRecord resolve(
    tracing::TraceReader& reader, const RunFacts& facts, const tracing::Lane& lane, const SpanRecord& span);

} // namespace rankscope::app::timeline
