#pragma once

#include "tracing/model/compact_optional.h"
#include "tracing/model/kinds.h"
#include "tracing/model/pipeline_schedule.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace rankscope::tracing::ledger {

// What the ledger (METRICS 5.3) is computed from: plain rows by rank. Integer ns on the run's clock, half-open
// intervals.

using Ns = std::int64_t;

/// End of an operation that has not ended in what is known: it lasts to the end of its stretch.
inline constexpr Ns kStillOpen = std::numeric_limits<Ns>::max();

/// A compute kernel. What a run has most of: it is kept small.
struct ComputeOp {
    Ns begin = 0;
    Ns end = 0;
    Pass pass = Pass::None;
    DataType dtype = DataType::Unknown;
    std::int32_t lane = 0;
    std::int32_t threads = 1;
    CompactOptional<std::int32_t> microBatch{};
    CompactOptional<std::int32_t> chunk{};
    CompactOptional<std::int64_t> flop{};
    std::int64_t redundantFlop = 0; ///< padding, dropped tokens, replicated work; contained in flop
    CompactOptional<std::int64_t> bytes{};
    CompactOptional<Ns> cpu{}; ///< CPU time over all its threads
    CompactOptional<std::int64_t> work{}; ///< tokens or samples
    CompactOptional<Ns> launch{}; ///< begin of the host call that launched it
};

/// One rank's part of an instance (collective or point-to-point): entry and exit.
struct PartOp {
    Ns begin = 0;
    Ns end = 0;
    std::size_t instance = 0; ///< index into LedgerInput::instances
    std::optional<std::int64_t> launchGroup{}; ///< parts of one rank started as one group launch share a number
    std::optional<Ns> launch{};
    bool onHost = false; ///< the host waits for a remote event without a kernel (Gloo, TCP): it labels gaps only
};

struct CopyOp {
    Ns begin = 0;
    Ns end = 0;
    std::optional<Ns> launch{};
};

enum class AnnotationKind : std::uint8_t { Data, Checkpoint, Planned };

struct Annotation {
    AnnotationKind kind = AnnotationKind::Data;
    Ns begin = 0;
    Ns end = 0;
};

/// A piece of a rank's allocated window. Imports: one a recorded step, named; nothing reaches from one into another.
struct Stretch {
    Ns begin = 0;
    Ns end = 0;
    std::optional<std::int64_t> step{};
};

/// Declared peaks; absent: kernels are not split below COMPUTE.
struct Peak {
    std::optional<std::int64_t> flopPerSecond{};
    std::map<DataType, std::int64_t> dtypeFlopPerSecond{}; ///< a dtype not named here has the declared peak
    std::optional<std::int64_t> bytesPerSecond{};
};

struct RankInput {
    std::int32_t rank = 0;
    std::vector<Stretch> stretches; ///< disjoint, ordered
    std::vector<ComputeOp> compute; ///< these four in any order
    std::vector<PartOp> parts;
    std::vector<CopyOp> copies;
    std::vector<Annotation> annotations;
    Ns clockError = 0; ///< bound of this rank's clock against the run's
    std::optional<std::int32_t> clock{}; ///< ranks that read the same clock share a number: no error between them
    std::optional<std::int32_t> stage{};
    Peak peak{};
};

/// Calibrated links: a transfer of up to alpha * hops + factor * size / busbw is ideal.
struct Calibration {
    Ns alpha = 0;
    std::int64_t busbwBytesPerSecond = 0;
};

/// One collective, or one message.
struct Instance {
    std::int64_t communicator = 0;
    std::int64_t sequence = 0;
    CollectiveOp op = CollectiveOp::Unknown; ///< Send for point-to-point
    Dimension dimension = Dimension::None;
    std::vector<std::int32_t> members; ///< world ranks in group order; empty: unknown
    std::optional<std::int32_t> root{};
    std::optional<std::int32_t> source{}; ///< point-to-point
    std::optional<std::int32_t> destination{};
    std::vector<std::vector<std::int64_t>> bytesMoved; ///< all-to-all with sizes: [sender][receiver] in group order
    std::int64_t size = 0; ///< bytes, METRICS 4.1 column S
    std::optional<Calibration> calibration{}; ///< of its links; goes before that of its dimension
};

struct StepMark {
    std::int64_t step = 0;
    std::map<std::int32_t, Ns> begin; ///< by rank
};
struct Attempt {
    std::vector<StepMark> steps;
};
struct PublishedCheckpoint {
    std::int64_t step = 0;
    Ns published = 0;
};
struct Failure {
    std::vector<std::int32_t> faulty;
    Ns detected = 0;
    std::optional<Ns> reformed{};
    std::int64_t restoredStep = 0;
};
struct Lifecycle {
    std::vector<Attempt> attempts;
    std::vector<PublishedCheckpoint> checkpoints;
    std::vector<Failure> failures; ///< failure i ends attempt i
    bool finalStateAccepted = false; ///< false: live, or ended without one
    bool live = false;
    std::optional<Ns> shutdown{}; ///< end of the last attempt
};

struct LedgerInput {
    std::vector<RankInput> ranks;
    std::vector<Instance> instances;
    std::map<Dimension, Calibration> calibration; ///< of instances without one of their own
    std::optional<Schedule> pipeline; ///< as declared
    std::optional<Lifecycle> lifecycle;
    Ns kernelGap = 30'000; ///< delta of METRICS 5.3
};

} // namespace rankscope::tracing::ledger
