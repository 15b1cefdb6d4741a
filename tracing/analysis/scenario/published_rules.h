#pragma once

#include "tracing/analysis/ledger/ledger_input.h"
#include "tracing/model/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankscope::tracing::scenario {

/// What a part of a job explains of its slowdown: the step when that part alone is as in an ideal job, and when that
/// part alone is as it was.
struct Explained {
    double removedSeconds = 0;
    double addedSeconds = 0;
    double removedShare = 0; ///< of what an ideal job would save; may be below 0 or above 1
    double addedShare = 0;
};

/// A job's slowdown by the rules of StragglerAnalysis (ByteDance, OSDI'25; METRICS 6), which are not those of our own
/// replay: launch delays are dropped; an ideal operation takes its type's mean over all ranks and steps where it
/// computes, the median of its transfers where it communicates. Seconds are means over the steps.
struct PublishedSlowdown {
    std::int64_t steps = 0;
    double recordedSeconds = 0;
    double withoutDelaysSeconds = 0;
    double idealSeconds = 0;
    /// The step with that replica's (stage's, operation's) own times in an otherwise ideal job, over the ideal step.
    std::vector<std::pair<std::string, double>> byReplica, byStage, byOperation;
    std::vector<std::int32_t> worstRanks; ///< the slowest 3 %, rounded up
    Explained worst; ///< its removedShare is M_W
    Explained lastStage; ///< its removedShare is M_S

    double slowdown() const { return withoutDelaysSeconds / idealSeconds; } ///< S
    double wastedShare() const { return 1 - idealSeconds / withoutDelaysSeconds; }
    /// What dropping the launch delays costs: how far the simulation is from the recording.
    double discrepancy() const { return recordedSeconds / withoutDelaysSeconds - 1; }
};

Result<PublishedSlowdown> publishedSlowdown(const ledger::LedgerInput& input);

} // namespace rankscope::tracing::scenario
