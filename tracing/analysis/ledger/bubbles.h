#pragma once

#include "tracing/analysis/ledger/compute_share.h"
#include "tracing/analysis/ledger/ledger_result.h"

#include <array>
#include <memory>

namespace rankscope::tracing::ledger {

/// Idle ns of each stage by phase in a balanced pipeline: fill, warm, body, cool, drain (METRICS 5.3, "Pipeline
/// bubble").
using PhaseQuota = std::array<Ns, 5>;

/// What the passes of a step took over all ranks: sums, and the number of (rank, micro-batch, chunk) that they are of.
struct PassSums {
    Ns forward = 0;
    Ns backward = 0; ///< of inputs and weights
    Ns weight = 0; ///< the part of it in weight passes of their own
    std::int64_t forwards = 0;
    std::int64_t backwards = 0;
};

/// Quota of a stage when all stages take the same mean times. 1F1B with m >= p by formula, otherwise by a
/// discrete-event run of the schedule.
PhaseQuota phaseQuota(const Schedule& schedule, std::int32_t stage, const PassSums& sums);

/// Relabels waits for pipeline peers (and, in the drain, waits of collectives across stages, and unattributed gaps) as
/// the schedule's bubble as far as its quota goes; the rest of the pipeline's waits as imbalance. Replaces
/// ranks[].segments.
void relabelBubbles(
    const LedgerInput& input, const std::vector<std::unique_ptr<ComputeShare>>& shares, LedgerResult& result);

/// Takes each wait's structural ns out of its rows (compute-caused ones pay first) into WaitRecord::remaining.
void settleCauses(const LedgerInput& input, LedgerResult& result);

} // namespace rankscope::tracing::ledger
