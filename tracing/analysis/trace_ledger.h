#pragma once

#include "tracing/analysis/ledger/ledger_input.h"
#include "tracing/analysis/ledger/ledger_result.h"
#include "tracing/analysis/run_rows.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <span>
#include <vector>

namespace rankscope::tracing {

/// What the ledger (METRICS 5.3) needs to know of a run file. How a rank's window comes about: runs that we recorded
/// have one window for all ranks, begin to end, with start, steps and shutdown as its lifecycle; of imported runs a
/// rank's own recorded steps are its stretches, and time outside them is not recorded. `steps`: only these, all where
/// absent (imports only: a selection of a recorded run's steps filters rows, it is not analysed anew).
struct LedgerSource {
    ledger::LedgerInput input;
    std::vector<std::vector<SignatureId>> signatures; ///< of the kernels, by rank
    /// The rank's kernels, parallel to its signatures. Behind them its compute has gaps that count as such.
    std::span<const ledger::ComputeOp> kernelsOf(std::size_t rank) const
    {
        return std::span(input.ranks[rank].compute).first(signatures[rank].size());
    }
    bool gpuTime = false; ///< ranks are devices that hosts launch on: shares are of GPU time
    bool flopsKnown = false; ///< peaks and FLOPs are in the file
    std::int64_t notRecordedNs = 0; ///< time of the run outside the stretches, over all ranks
    std::int32_t ranksAbsent = 0; ///< of the world size

    std::vector<CollectiveMatch> matches; ///< of a part of a run: what the file says of the input's instances
    /// Of a part of a run: from here on a rank's labels are those that the whole run gives it; before, something may
    /// reach back to what was left out.
    std::int64_t firmNs = INT64_MIN;
};

Result<LedgerSource> readLedgerSource(TraceReader& reader, const RunFacts& facts);
/// Only what touches the time after `fromNs` in a run that we recorded; the ranks' stretches begin there.
Result<LedgerSource> readLedgerSource(TraceReader& reader, const RunFacts& facts, std::int64_t fromNs);

} // namespace rankscope::tracing
