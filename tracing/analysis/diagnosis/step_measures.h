#pragma once

#include "tracing/model/ids.h"
#include "tracing/model/rows.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace rankscope::tracing::diagnosis {

// What the detectors look at: a few numbers a rank and step, so that a step that has just ended costs time in
// proportion to its own rows, and a run of any length fits in memory.

/// Launches of one kernel in one step of one rank.
struct KernelSum {
    std::int64_t count = 0;
    std::int64_t typicalNs = 0; ///< lower quartile of the durations: what preemption and pauses leave alone
    std::int64_t sumNs = 0; ///< on a core where CPU time is recorded, else by the clock on the wall
};

struct RankStep {
    std::int32_t rank = 0;
    Window window; ///< of this rank's own step
    std::map<SignatureId, KernelSum> kernels;
    std::int64_t dataNs = 0;
    std::int64_t idleNs = 0; ///< nothing recorded: neither kernel nor communication, copy, data or checkpoint
    std::int64_t offCoreNs = 0; ///< inside kernels: wall time less CPU time
    std::optional<std::int64_t> queueNs; ///< ready to work without a core; not counted while it waits for other ranks
};

/// The way of messages from one rank to another, or the ranks of a collective.
struct Route {
    CollectiveOp op = CollectiveOp::Send;
    Dimension dimension = Dimension::None;
    std::int64_t bytes = 0;
    std::vector<std::int32_t> ranks; ///< messages: from, to; collectives: members
    auto operator<=>(const Route&) const = default;
};

/// How long the step's exchanges on one route were under way: messages from the sender's entry to the exit of a
/// receiver that waited for them, collectives from the last entry to the last exit.
struct Flight {
    std::int64_t count = 0;
    std::int64_t leastNs = 0; ///< what waiting for a core or for a late peer adds is not in the least of several
    std::int64_t sumNs = 0;
};

struct StepMeasures {
    std::int64_t step = 0;
    std::int32_t attempt = 0;
    Window window; ///< over all ranks
    std::vector<RankStep> ranks; ///< by rank
    std::map<Route, Flight> flights;
    std::map<Dimension, std::int64_t> waitNs; ///< of all ranks, until the last one entered; hidden ones too
};

} // namespace rankscope::tracing::diagnosis
