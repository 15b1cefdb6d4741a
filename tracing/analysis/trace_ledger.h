#pragma once

#include "tracing/analysis/ledger/ledger_input.h"
#include "tracing/analysis/ledger/ledger_result.h"
#include "tracing/analysis/run_rows.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

namespace rankscope::tracing {

/// What the ledger (METRICS 5.3) needs to know of a run file. How a rank's window comes about: runs that we recorded
/// have one window for all ranks, begin to end, with start, steps and shutdown as its lifecycle; of imported runs a
/// rank's own recorded steps are its stretches, and time outside them is not recorded. `steps`: only these, all where
/// absent (imports only: a selection of a recorded run's steps filters rows, it is not analysed anew).
struct LedgerSource {
    ledger::LedgerInput input;
    bool gpuTime = false; ///< ranks are devices that hosts launch on: shares are of GPU time
    bool flopsKnown = false; ///< peaks and FLOPs are in the file
    std::int64_t notRecordedNs = 0; ///< time of the run outside the stretches, over all ranks
    std::int32_t ranksAbsent = 0; ///< of the world size
};

Result<LedgerSource> readLedgerSource(TraceReader& reader, const RunFacts& facts);

} // namespace rankscope::tracing
