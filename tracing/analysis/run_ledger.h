#pragma once

#include "tracing/analysis/ledger/ledger_result.h"
#include "tracing/analysis/pop.h"
#include "tracing/analysis/remedy.h"
#include "tracing/analysis/run_rows.h"
#include "tracing/analysis/shared_rows.h"
#include "tracing/analysis/step_series.h"
#include "tracing/analysis/trace_ledger.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// What fixing something would save, by replay.
struct Saving {
    std::optional<ledger::LeafKey> leaf; ///< that leaf of all ranks; none: the waits below
    std::optional<std::int32_t> culprit; ///< waits that this rank causes
    std::string cause;
    Prediction prediction;
    bool operator==(const Saving&) const = default;
};

/// The waste ledger of a run (METRICS 5.3) without its single intervals: what is kept in the file.
struct RunLedger {
    struct Rank {
        std::int32_t rank = 0;
        std::int64_t windowNs = 0;
        std::optional<std::int64_t> peakFlops;
        bool operator==(const Rank&) const = default;
    };

    bool gpuTime = false; ///< shares are of GPU time, else of rank time
    std::int64_t capacityNs = 0;
    std::int64_t notRecordedNs = 0; ///< outside the capacity
    std::int32_t ranksAbsent = 0;
    std::vector<Rank> ranks;
    std::vector<ledger::StepInfo> steps;
    SharedRows rows; ///< sum to the capacity
    SharedRows::Piece sums; ///< the rows summed over steps, where somebody has done so; ask summedRows()
    std::vector<ledger::LedgerTotal> totals; ///< in the order of leaves
    std::optional<StepRange> counted; ///< steps that reports count and savings are about; none: the run has no steps
    std::int64_t countedSteps = 0; ///< how many these are
    std::vector<Saving> savings;
    std::optional<PopTimes> pop; ///< of the counted steps
    ledger::Goodput goodput;
    std::int64_t orderViolations = 0;
    std::int64_t violationsBeyondError = 0;
    std::int64_t flopViolations = 0;
    std::int64_t eagerSends = 0;

    /// FLOPs that the ranks could do in their windows; none where a rank's peak is unknown.
    std::optional<double> capacityFlop() const;
    /// FLOPs of `ns` of a rank's time; none where its peak is unknown.
    std::optional<double> flopOf(std::int32_t rank, std::int64_t ns) const;
    std::int64_t residualNs() const; ///< capacity less the sum of the rows: 0
    const Saving* savingOf(const ledger::LeafKey& leaf) const;
    const Saving* savingOf(std::optional<std::int32_t> culprit, std::string_view cause) const;
};

/// The rows summed over the steps, by leaf, rank, culprit and cause; their step is -1, and `culprits` is empty.
SharedRows::Piece summedRows(const RunLedger& run);

RunLedger summarised(const LedgerSource& source, const ledger::LedgerResult& result);

/// Adds what fixing the costliest leaves and culprits would save.
void addSavings(RunLedger& run, const Remedies& remedies);

/// The counted steps as stretches of time; steps that follow each other are one.
std::vector<Window> countedStretches(const RunFacts& facts);

/// The rows of these steps alone, filtered and not analysed anew; totals' ranges are then sums of the rows' ranges.
/// Savings are of the counted steps: left out where others are asked for. None: the run has no such step.
std::optional<RunLedger> onlySteps(const RunLedger& run, StepRange steps);

/// The ledger with all that it was made of.
struct LedgerRun {
    LedgerSource source;
    ledger::LedgerResult result;
    RunLedger summary;
};
Result<LedgerRun> computeRunLedger(TraceReader& reader, const RunFacts& facts);

/// The ledger of a run file; of a finished run it is kept there, so that asking again costs nothing.
Result<RunLedger> runLedger(TraceReader& reader, const RunFacts& facts);

// The form in which it is kept.
std::string packed(const RunLedger& run);
std::optional<RunLedger> unpacked(std::string_view text);

} // namespace rankscope::tracing
