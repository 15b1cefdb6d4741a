#pragma once

#include "tracing/analysis/run_ledger.h"
#include "tracing/model/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// Mean of the counted steps of a run that was replayed with changes. Without steps: the whole run.
struct WhatIf {
    std::vector<std::string> changes; ///< as asked for
    std::int64_t steps = 0; ///< 0: the run has none
    std::optional<StepRange> counted;
    std::int64_t baselineStepNs = 0;
    std::int64_t predictedStepNs = 0;
    /// What the change leaves open (such as which peer a fixed rank is like), and twice the standard error of the
    /// recorded steps' mean, scaled like the step.
    std::int64_t lowNs = 0;
    std::int64_t highNs = 0;
};

/// What can be changed, one line each, for help texts.
std::string whatIfHelp();

/// Replays the run (METRICS 6) with all changes at once:
///   fix=R                rank R is like the median of its peers in compute and in every kind of gap
///   compute=X compute@R=X   kernels take X times as long; @R: those of that rank alone
///   host=X launch=X data=X checkpoint=X kernel_gap=X unattributed=X   gaps of that kind, also with @R
///   transfer=X transfer.dp=X transfer@R=X   X times as long, of all, of one dimension, of one rank
///   link=X link.dp=X     links X times as fast: all, or those that a dimension uses, for all that goes over them
///   overlap=perfect      transfers cost time only where they alone last longer than the step; gradients are summed
///                        from its last backward pass on
///   cores=enough         every kernel has a core for each of its threads
///   balance=stages       every stage computes as long as the mean of all; balance=experts: kernels with tokens
///   recompute=0          X times as much is computed again for the backward pass
///   micro_batches=N schedule=gpipe   alone or together: the pipeline's step is played anew from the mean times of its
///                        passes and messages
/// An error names the change that is not understood.
Result<WhatIf> whatIf(const LedgerRun& run, const RunFacts& facts, std::span<const std::string> changes);

} // namespace rankscope::tracing
