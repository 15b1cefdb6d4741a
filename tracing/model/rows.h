#pragma once

#include "tracing/model/ids.h"
#include "tracing/model/kinds.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::tracing {

// What happened, as it stands in the tables of a run file and passes between floors. Times are integer ns on the run's
// clock (0 = the run's origin); intervals are half open, [beginNs, endNs). A row's lane says its rank.

/// Half-open stretch of time.
struct Window {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;

    std::int64_t durationNs() const { return endNs - beginNs; }
    bool operator==(const Window&) const = default;
};

/// What all launches of one kernel share; rows point to it, so that a row stays small.
struct KernelSignature {
    NameId name{};
    Pass pass = Pass::None;
    DataType dtype = DataType::Unknown;
    std::int32_t threads = 1; ///< CPU: threads that worked on it
    std::optional<std::int64_t> flop; ///< arithmetic of one launch (model FLOPs, not instructions)
    std::optional<std::int64_t> bytes; ///< memory traffic of one launch at least
    std::optional<std::int64_t> redundantFlop = {}; ///< of them what other ranks count: replicated work

    bool operator==(const KernelSignature&) const = default;
};

struct Kernel {
    LaneId lane{};
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    SignatureId signature{};
    std::optional<std::int64_t> cpuNs; ///< CPU time of all its threads; long CPU kernels only
    std::optional<std::int32_t> microBatch;
    std::optional<std::int64_t> work; ///< tokens or samples
    std::optional<std::int64_t> correlation; ///< of the host call that launched it
};

struct Copy {
    LaneId lane{};
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    NameId name{};
    std::optional<std::int64_t> bytes;
    std::optional<std::int64_t> correlation;
};

struct HostCall {
    LaneId lane{};
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    NameId name{};
    std::optional<std::int64_t> correlation;
};

/// One rank's part of a collective or of a point-to-point message: entered at beginNs, left at endNs.
struct CollectivePart {
    LaneId lane{};
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    NameId name{};
    CollectiveOp op = CollectiveOp::Unknown;
    InstanceId instance{}; ///< the same for all parts of one collective, and for a send and its receive
    std::int64_t bytes = 0; ///< whole buffer (for all-gather and reduce-scatter the one that spans all ranks)
    std::optional<std::int32_t> peer; ///< point-to-point: the other world rank; rooted: the root's world rank
    std::optional<std::int32_t> microBatch;
    std::optional<std::int64_t> cpuNs;
    std::optional<std::int64_t> launchGroup; ///< parts of one rank started as one group launch share a number
    std::optional<std::int64_t> correlation;
};

/// One collective over all its ranks.
struct CollectiveMatch {
    InstanceId id{};
    CommunicatorId communicator{};
    CollectiveOp op = CollectiveOp::Unknown; ///< point-to-point: Send
    std::int64_t sequence = 0; ///< counts per communicator and operation; point-to-point: per source and destination
    std::int32_t partsPresent = 0;
    std::int32_t partsExpected = 0;
    std::int64_t firstEntryNs = 0;
    std::int64_t lastEntryNs = 0; ///< E: latest entry of any part present
    std::int64_t lastExitNs = 0;
    std::optional<std::int32_t> lateRank; ///< rank of the latest entry; none while fewer than two parts are known
};

/// A rank has nothing to compute because the pipeline's schedule makes it wait for a peer.
struct Bubble {
    LaneId lane{}; ///< the rank's compute lane: nothing else runs there
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    BubblePhase phase = BubblePhase::Fill;
    std::int32_t stage = 0;
    std::optional<std::int32_t> microBatch; ///< the one it waits for
    std::optional<std::int32_t> awaitedRank; ///< world rank of the peer it waits for
    Pass pass = Pass::None; ///< what would run next
};

struct Range {
    LaneId lane{};
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    NameId name{};
    RangeKind kind = RangeKind::Annotation;
    std::int32_t depth = 0; ///< nesting on its lane, 0 outermost
    std::optional<std::int64_t> step;
    std::optional<std::int32_t> microBatch;
    std::optional<std::int64_t> cpuNs;
};

struct CounterSample {
    LaneId lane{};
    std::int64_t timeNs = 0;
    double value = 0;
};

/// One rank's stretch of one optimiser update.
struct Step {
    std::int32_t rank = 0;
    std::int64_t step = 0;
    std::int32_t attempt = 0; ///< counts restarts
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
};

/// One rank's part of a checkpoint that was published.
struct CheckpointPart {
    std::int32_t rank = 0;
    std::int64_t step = 0; ///< updates that it holds
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0; ///< published
    std::int64_t blockedNs = 0; ///< the training stood still
    std::optional<std::int64_t> bytes;
    std::string path;
};

/// How an attempt of the run ended before its time, and how the next one went on. What is not known is absent.
struct AttemptFailure {
    std::int32_t attempt = 0; ///< counted from 0
    std::optional<std::int64_t> detectedNs;
    std::string reason;
    std::vector<std::int32_t> ranks; ///< that failed
    std::optional<std::int64_t> reformedNs; ///< the last rank of the next attempt was there
    std::optional<std::int64_t> restoredStep; ///< updates that the next attempt began with
};

/// How fast messages get from one rank to another, measured at the start of the run.
struct LinkSpeed {
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int64_t latencyNs = 0; ///< of a message without content
    std::int64_t bytesPerSecond = 0;

    bool operator==(const LinkSpeed&) const = default;
};

/// What a detector saw while the run went on.
struct LiveAlert {
    std::string title;
    std::string text; ///< threshold, value, owner, action
    std::vector<std::int32_t> ranks; ///< to blame; empty: nobody can be named
    Window window; ///< where to look
};

/// The truth about a fault that the backend injected, to score diagnoses with; analyses never see it.
struct FaultInjection {
    std::string kind; ///< "slow_rank", "slow_link", "stalled_data", ...
    std::optional<std::int32_t> rank;
    std::optional<std::int64_t> step; ///< first step concerned
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::string detail; ///< the fault's settings as "key=value ..."
};

/// Something that was dropped, repaired or not understood. Lost data is an error and is counted.
struct Loss {
    std::string kind; ///< stable word: "ring full", "unterminated file", ...
    std::int64_t count = 0;
    std::string detail; ///< one sentence for people
};

} // namespace rankscope::tracing
