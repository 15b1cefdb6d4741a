#pragma once

#include "tracing/analysis/collectives.h"
#include "tracing/analysis/diagnosis/diagnosis.h"
#include "tracing/analysis/findings.h"
#include "tracing/analysis/headline.h"
#include "tracing/analysis/kernel_table.h"
#include "tracing/analysis/lateness.h"
#include "tracing/analysis/ledger_lane.h"
#include "tracing/analysis/path_shares.h"
#include "tracing/analysis/run_ledger.h"
#include "tracing/analysis/step_series.h"
#include "tracing/analysis/time_split.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

struct RankAnalysis {
    RankInfo info;
    TimeSplit split;
    OverlapSummary overlap;
    std::vector<TimeSplit> bySteps; ///< parallel to RunAnalysis::steps
    std::vector<std::int64_t> waitForRankNs; ///< exposed wait by the rank that causes it; index = rank
    std::vector<std::int64_t> bubbleForRankNs; ///< imbalance of the pipeline likewise
    std::array<Window, kSpanClassCount> longest{}; ///< by label: evidence to show
};

/// A checkpoint that a rank could not write, or found damaged.
struct CheckpointTrouble {
    std::int32_t rank = 0;
    std::int64_t step = 0;
    bool isDamage = false; ///< else: could not be written
    Window window;
    std::string text; ///< as the rank said
};

/// Everything that the report and the overview show. A value: computed on a worker thread, handed over as it is.
struct RunAnalysis {
    RunFacts facts;
    Window window; ///< what is counted
    std::optional<StepRange> counted; ///< steps in it, none when a plain window was asked for or there are no steps
    std::vector<StepSpan> steps; ///< the counted ones
    std::vector<StepSpan> allSteps;
    StepStats stepStats; ///< of the counted steps
    std::vector<RankAnalysis> ranks; ///< by rank
    TimeSplit total; ///< sum over ranks
    std::vector<Lateness> late; ///< ranks that others wait for, by cost
    std::vector<diagnosis::Diagnosis> diagnoses; ///< of the whole run: what goes wrong in one place
    std::vector<CheckpointTrouble> checkpointTroubles; ///< checkpoints that could not be written or read
    std::vector<Saving> savings; ///< of the steps that count when nobody asks for others
    std::optional<PopTimes> pop; ///< of the same steps
    std::vector<PathShare> path; ///< critical path of the counted time, most first
    std::int64_t savingSteps = 0; ///< steps that the savings are spread over; 0: the run has none
    std::vector<CollectiveRow> collectives;
    std::vector<KernelRow> kernels;
    std::vector<Series> series; ///< all counters, whole run
    bool gpuTime = false; ///< ranks are devices that hosts launch on
    std::optional<double> usefulFlops; ///< model FLOPs of the counted kernels; none where a kernel's are unknown
    std::optional<double> capacityFlops; ///< what the machine can do in the window; none where a rank's peak is unknown
    Headline headline;
    std::vector<Finding> findings;

    /// Cores of all nodes, where ranks share them: descheduled then stands outside every denominator.
    std::optional<int> sharedCores() const;
    /// The denominator of every share: the ranks' time, less descheduled where ranks share cores.
    std::int64_t capacityNs() const;
    double shareOf(std::int64_t ns) const; ///< of capacityNs()
    std::string_view
    capacityWord() const; ///< how the denominator is called: "GPU time", "rank time" or "rank time with a core"
};

struct AnalysisOptions {
    std::optional<StepRange> steps{}; ///< asked for by a person
    std::optional<Window> window{}; ///< instead of steps
    std::function<bool(int ranksDone, int ranks)> progress{}; ///< false: stop
};

/// Loads what it needs, rank by rank, and counts. The one entry for the app and the command line.
Result<RunAnalysis> analyse(TraceReader& reader, const AnalysisOptions& options = {});

/// The analysis with the ledger that its figures are counted from, for those who show both.
struct AnalysedRun {
    RunAnalysis analysis;
    RunLedger ledger; ///< of the whole run
    LedgerLanes lanes; ///< of the whole run
};
Result<AnalysedRun> analyseWithLedger(TraceReader& reader, const AnalysisOptions& options = {});

} // namespace rankscope::tracing
