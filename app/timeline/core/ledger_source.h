#pragma once

#include "app/timeline/core/records.h"
#include "app/timeline/core/run_facts.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <array>
#include <cstdint>

namespace rankscope::app::timeline {

using ClassTimes = std::array<std::int64_t, tracing::kSpanClassCount>;

/// What the lanes of a rank hold in one cell, by tiles.
struct LedgerCell {
    ClassTimes compute{};
    ClassTimes communication{};
    std::int64_t computeNs = 0; ///< kernels and bubbles
    std::int64_t communicationNs = 0;
};

/// What covers most of a cell, as the ledger orders them: kernels, then communication in transfer, then the bubble,
/// which covers whole waits for a neighbour and so the transfers that end them too, then the other communication.
tracing::SpanClass coverOf(const LedgerCell& cell, std::int64_t widthNs);

/// The ledger lane of a rank: every recorded ns of the window under the one label that applies to it. Exact where the
/// window holds few events, with the part of each stretch that had no core at its end; where it holds many, each cell
/// of a few pixels takes what covers most of it, counted from tiles, which do not know of cores: kernels first, then as
/// much of transfers, bubbles and waits as fits beside them.
tracing::Result<LaneContent> loadLedger(
    tracing::TraceReader& reader, const RunFacts& facts, std::int32_t rank, tracing::Window window, double nsPerPx);

} // namespace rankscope::app::timeline
