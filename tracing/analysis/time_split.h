#pragma once

#include "tracing/analysis/ledger/ledger_result.h"
#include "tracing/analysis/run_rows.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rankscope::tracing {

inline constexpr int kDimensionCount = 10;
inline constexpr int kBubblePhaseCount = 3;

/// Where a rank's time went. The parts sum to windowNs exactly; the fields marked "memo" are inside other parts.
struct TimeSplit {
    std::int64_t windowNs = 0;
    std::int64_t computeNs = 0; ///< kernels, less descheduled; with the optimizer
    std::int64_t descheduledNs = 0; ///< without a core, inside kernels and between them
    std::int64_t transferNs = 0; ///< exposed
    std::int64_t waitNs = 0; ///< exposed
    std::int64_t unsplitNs = 0; ///< exposed communication that cannot be split in wait and transfer
    std::array<std::int64_t, kBubblePhaseCount> bubbleByPhaseNs{};
    std::int64_t copyNs = 0;
    std::int64_t dataNs = 0;
    std::int64_t checkpointNs = 0;
    std::int64_t startNs = 0; ///< start and shutdown
    std::int64_t plannedNs = 0; ///< validation
    std::int64_t kernelGapNs = 0; ///< gaps of at most kKernelGapNs
    std::int64_t imbalanceNs = 0; ///< pipeline waits beyond what the schedule costs by itself
    std::int64_t hostNs = 0; ///< the host had not launched anything
    std::int64_t launchNs = 0; ///< launched, on its way to the device
    std::int64_t tailNs = 0; ///< after the last operation
    std::int64_t lostNs = 0; ///< steps that a restart threw away
    std::int64_t downNs = 0; ///< from a failure until the next attempt's first step
    std::int64_t idleNs = 0; ///< nothing recorded

    std::int64_t optimizerNs = 0; ///< memo: of computeNs
    std::int64_t hiddenNs = 0; ///< memo: communication under compute
    std::array<std::int64_t, kDimensionCount> transferByDimensionNs{}; ///< memo: of transferNs
    std::array<std::int64_t, kDimensionCount> waitByDimensionNs{}; ///< memo: of waitNs

    std::int64_t bubbleNs() const; ///< structural: what a balanced pipeline of this schedule costs
    /// What no rule explains, also at the end.
    std::int64_t unattributedNs() const { return idleNs + tailNs; }
    std::int64_t gapNs() const { return launchNs + kernelGapNs; }
    std::int64_t awaitingNs() const { return waitNs + imbalanceNs; } ///< somebody else's fault
    std::int64_t exposedNs() const { return transferNs + waitNs + unsplitNs; }
    std::int64_t sumNs() const; ///< equals windowNs
    TimeSplit& operator+=(const TimeSplit& other);
    bool operator==(const TimeSplit&) const = default;
};

/// Adds ns of a leaf of the ledger to the part that it belongs to; windowNs grows with it.
void addLeaf(TimeSplit& split, const ledger::LeafKey& leaf, std::int64_t ns);

/// The plain figures that other tools print, from unions of a rank's spans: compute is any kernel, communication any
/// part of a collective (pipeline waits too), copy what is under neither, idle the rest. compute + exposed + copy +
/// idle = window; overlap + exposed = communication.
struct OverlapSummary {
    std::int64_t windowNs = 0;
    std::int64_t computeNs = 0;
    std::int64_t communicationNs = 0;
    std::int64_t overlapNs = 0; ///< communication under compute
    std::int64_t exposedNs = 0;
    std::int64_t copyNs = 0;
    std::int64_t idleNs = 0;

    /// Share of the communication that is hidden; none without communication.
    std::optional<double> overlapShare() const;
    bool operator==(const OverlapSummary&) const = default;
};
OverlapSummary overlapSummary(const RankRows& rows, std::span<const Window> stretches); ///< disjoint, sorted
/// The same of a rank's spans in any order.
OverlapSummary overlapSummary(std::vector<Window> compute, std::vector<Window> communication,
    std::vector<Window> copies, std::span<const Window> stretches);
inline OverlapSummary overlapSummary(const RankRows& rows, Window window)
{
    return overlapSummary(rows, std::span<const Window>(&window, 1));
}

} // namespace rankscope::tracing
