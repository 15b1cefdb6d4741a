#pragma once

#include "app/timeline/core/records.h"
#include "app/timeline/core/run_facts.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

namespace rankscope::app::timeline {

/// The ledger lane of a rank: every recorded ns of the window under the one label that applies to it. Exact where the
/// window holds few events; where it holds many, each cell of a few pixels takes what covers most of it, counted from
/// tiles: compute and its bubbles first, then as much communication as did not fit beside them.
tracing::Result<LaneContent> loadLedger(
    tracing::TraceReader& reader, const RunFacts& facts, std::int32_t rank, tracing::Window window, double nsPerPx);

} // namespace rankscope::app::timeline
