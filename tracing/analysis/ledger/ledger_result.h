#pragma once

#include "tracing/analysis/ledger/ledger_input.h"

#include <array>
#include <string>
#include <vector>

namespace rankscope::tracing::ledger {

/// What a nanosecond of a rank is, after METRICS 5.3, in the order in which ties and shares are settled.
enum class Label : std::uint8_t {
    Compute,
    Descheduled,
    Transfer,
    Wait,
    Copy,
    Checkpoint,
    Data,
    Host,
    Launch,
    KernelGap,
    Tail,
    Unattributed,
    Start,
    DownDetect,
    DownRestart,
    DownRestore,
    Lost,
    Planned,
    Shutdown,
    Unsplit, ///< communication whose partners are all absent
    NotRecorded, ///< outside the stretches; never a leaf
    BubbleFill,
    BubbleSteady,
    BubbleDrain,
    BubbleImbalance,
};
inline constexpr std::size_t kLabelCount = 25;

/// Leaves: labels, with compute split further (Level 2) and transfer split by calibration.
enum class Leaf : std::uint8_t {
    Useful,
    Recompute,
    Redundant,
    PrecisionDeficit,
    MemoryBound,
    BelowRoofline,
    Compute, ///< FLOPs unknown
    Optimizer,
    Descheduled,
    Transfer, ///< no calibration
    TransferIdeal,
    TransferExcess,
    Unsplit,
    Wait,
    BubbleFill,
    BubbleSteady,
    BubbleDrain,
    BubbleImbalance,
    Copy,
    Host,
    Launch,
    KernelGap,
    Data,
    Checkpoint,
    Tail,
    Lost,
    DownDetect,
    DownRestart,
    DownRestore,
    Start,
    Planned,
    Shutdown,
    Unattributed,
};

struct LeafKey {
    Leaf leaf = Leaf::Unattributed;
    Dimension dimension = Dimension::None; ///< of transfers, waits and unsplit communication

    auto operator<=>(const LeafKey&) const = default;
};
/// METRICS' name in lower case with dots: "transfer.dp.ideal", "wait.clip", "bubble.structural.fill".
std::string leafName(const LeafKey& key);

/// What a wait is blamed on. Causes are words of METRICS 5.3: "compute", "data", "network", ...
struct CauseRow {
    std::optional<std::int32_t> culprit; ///< world rank; none: nobody can be named
    std::string cause;
    Ns ns = 0;

    bool sameAs(const CauseRow& other) const { return culprit == other.culprit && cause == other.cause; }
};

/// A stretch of one rank with one label.
struct Segment {
    Ns begin = 0;
    Ns end = 0;
    Label label = Label::Unattributed;
    bool excess = false; ///< transfer beyond the calibrated time
    std::int32_t part = -1; ///< index into the rank's parts; -1: none
    std::int32_t step = -1; ///< index into LedgerResult::steps; -1: outside every step
};

/// One rank's part of an instance, split (METRICS 5.3 and 5.4).
struct SplitPart {
    Ns entry = 0;
    Ns exit = 0;
    Ns wait = 0; ///< transfer = exit - entry - wait
    Ns waitLow = 0;
    Ns waitHigh = 0;
    Ns ideal = -1; ///< calibrated time of its transfer; -1: no calibration
    std::int32_t late = -1; ///< index of the late rank; -1: nobody can be named
    std::vector<std::int32_t> culprits; ///< world ranks between which the clock cannot decide
    bool unsplit = false;
    bool eager = false;
    bool early = false; ///< left before the latest entry: an order violation
    bool beyondError = false; ///< by more than the clocks' error
    std::int32_t absentMembers = 0;
};

struct WaitRecord {
    std::int32_t rank = 0; ///< world rank
    std::size_t part = 0;
    std::size_t instance = 0;
    std::optional<std::int32_t> late; ///< world rank
    Ns since = 0; ///< t0
    Ns exposed = 0;
    std::vector<CauseRow> rows; ///< sum to exposed, before the bubble takes its quota
    std::vector<CauseRow> remaining; ///< after it
};

enum class StepState : std::uint8_t { Committed, Provisional, Lost };
struct StepInfo {
    std::int64_t step = 0;
    std::int32_t attempt = 1;
    StepState state = StepState::Committed;
    Ns begin = 0; ///< over all ranks
    Ns end = 0;

    bool operator==(const StepInfo&) const = default;
};

struct LedgerRow {
    LeafKey leaf;
    std::int32_t rank = 0; ///< world rank
    std::int32_t step = -1; ///< index into steps; -1: outside every step
    Ns ns = 0;
    Ns low = 0;
    Ns high = 0;
    std::optional<std::int32_t> culprit;
    std::string cause; ///< empty: none
    std::vector<std::int32_t> culprits;

    bool operator==(const LedgerRow&) const = default;
};

struct LedgerTotal {
    LeafKey leaf;
    Ns ns = 0;
    Ns low = 0;
    Ns high = 0;

    bool operator==(const LedgerTotal&) const = default;
};

/// A leaf in one step over all ranks: measured, and with the waits at the low and at the high end of the clocks' error.
struct StepLeaf {
    std::int32_t step = -1; ///< index into steps; -1: outside every step
    LeafKey leaf;
    std::array<Ns, 3> ns{};

    bool operator==(const StepLeaf&) const = default;
};

struct Goodput {
    Ns total = 0, start = 0, committed = 0, provisional = 0, lost = 0, down = 0;
    std::int64_t ettrPpm = 0; ///< with provisional steps
    std::int64_t ettrFirmPpm = 0;

    bool operator==(const Goodput&) const = default;
};

struct RankLedger {
    std::int32_t rank = 0;
    Ns window = 0;
    std::vector<Segment> segments; ///< ordered, tile the stretches
    std::vector<SplitPart> parts; ///< as the rank's input parts
    Ns overlap = 0; ///< communication and compute at once
    std::vector<Ns> flopViolations; ///< begins of the kernels that took less time than their FLOPs need
    Ns quota[5] = { 0, 0, 0, 0, 0 }; ///< summed over steps: fill, warm, body, cool, drain
};

struct LedgerResult {
    std::vector<RankLedger> ranks; ///< as the input's
    std::vector<StepInfo> steps;
    std::vector<LedgerRow> rows;
    std::vector<LedgerTotal> totals;
    std::vector<StepLeaf> stepLeaves; ///< what the totals are summed from
    std::vector<WaitRecord> waits; ///< exposed ones, in the order of instances
    Goodput goodput;
    Ns capacity = 0; ///< sum of windows
    std::int64_t orderViolations = 0;
    std::int64_t violationsBeyondError = 0;
    std::int64_t flopViolations = 0;
    std::int64_t eagerSends = 0;
    std::int64_t negativeDurations = 0;
};

} // namespace rankscope::tracing::ledger
