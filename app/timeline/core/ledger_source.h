#pragma once

#include "app/timeline/core/records.h"
#include "app/timeline/core/run_facts.h"
#include "tracing/analysis/ledger_lane.h"
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

/// The ledger lane of a rank for a window. As far as the ledger has been counted (`lanes`; null: not yet) it is the
/// ledger's own stretches, folded. What came to the file since then is guessed from tiles: each cell of a few pixels
/// takes what covers most of it, kernels first, then as much of transfers, bubbles and waits as fits beside them; tiles
/// know neither of hosts nor of cores.
tracing::Result<LaneContent> loadLedger(tracing::TraceReader& reader, const RunFacts& facts,
    const tracing::LedgerLanes* lanes, std::int32_t rank, tracing::Window window, double nsPerPx);

} // namespace rankscope::app::timeline
