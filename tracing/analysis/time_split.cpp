#include "tracing/analysis/time_split.h"

#include "tracing/model/interval.h"

#include <algorithm>
#include <numeric>

namespace rankscope::tracing {

namespace {

std::int64_t& bubbleOf(TimeSplit& split, BubblePhase phase)
{
    const auto index = std::min(static_cast<std::size_t>(phase), split.bubbleByPhaseNs.size() - 1);
    return split.bubbleByPhaseNs[index];
}

std::size_t indexOf(Dimension dimension)
{
    return std::min(static_cast<std::size_t>(dimension), static_cast<std::size_t>(kDimensionCount - 1));
}

} // namespace

std::int64_t TimeSplit::bubbleNs() const
{
    return std::accumulate(bubbleByPhaseNs.begin(), bubbleByPhaseNs.end(), std::int64_t{ 0 });
}

std::int64_t TimeSplit::sumNs() const
{
    return computeNs + descheduledNs + exposedNs() + bubbleNs() + copyNs + dataNs + checkpointNs + startNs + plannedNs
        + kernelGapNs + imbalanceNs + hostNs + launchNs + tailNs + lostNs + downNs + idleNs;
}

TimeSplit& TimeSplit::operator+=(const TimeSplit& other)
{
    windowNs += other.windowNs;
    computeNs += other.computeNs;
    descheduledNs += other.descheduledNs;
    transferNs += other.transferNs;
    waitNs += other.waitNs;
    unsplitNs += other.unsplitNs;
    copyNs += other.copyNs;
    dataNs += other.dataNs;
    checkpointNs += other.checkpointNs;
    startNs += other.startNs;
    plannedNs += other.plannedNs;
    kernelGapNs += other.kernelGapNs;
    imbalanceNs += other.imbalanceNs;
    hostNs += other.hostNs;
    launchNs += other.launchNs;
    tailNs += other.tailNs;
    lostNs += other.lostNs;
    downNs += other.downNs;
    idleNs += other.idleNs;
    optimizerNs += other.optimizerNs;
    hiddenNs += other.hiddenNs;
    for (std::size_t i = 0; i < bubbleByPhaseNs.size(); ++i)
        bubbleByPhaseNs[i] += other.bubbleByPhaseNs[i];
    for (std::size_t i = 0; i < transferByDimensionNs.size(); ++i) {
        transferByDimensionNs[i] += other.transferByDimensionNs[i];
        waitByDimensionNs[i] += other.waitByDimensionNs[i];
    }
    return *this;
}

void addLeaf(TimeSplit& split, const ledger::LeafKey& leaf, std::int64_t ns)
{
    using ledger::Leaf;
    split.windowNs += ns;
    switch (leaf.leaf) {
    case Leaf::Optimizer:
        split.optimizerNs += ns;
        [[fallthrough]];
    case Leaf::Useful:
    case Leaf::Recompute:
    case Leaf::Redundant:
    case Leaf::PrecisionDeficit:
    case Leaf::MemoryBound:
    case Leaf::BelowRoofline:
    case Leaf::Compute:
        split.computeNs += ns;
        return;
    case Leaf::Descheduled:
        split.descheduledNs += ns;
        return;
    case Leaf::Transfer:
    case Leaf::TransferIdeal:
    case Leaf::TransferExcess:
        split.transferNs += ns;
        split.transferByDimensionNs[indexOf(leaf.dimension)] += ns;
        return;
    case Leaf::Unsplit:
        split.unsplitNs += ns;
        return;
    case Leaf::Wait:
        split.waitNs += ns;
        split.waitByDimensionNs[indexOf(leaf.dimension)] += ns;
        return;
    case Leaf::BubbleFill:
        bubbleOf(split, BubblePhase::Fill) += ns;
        return;
    case Leaf::BubbleSteady:
        bubbleOf(split, BubblePhase::Steady) += ns;
        return;
    case Leaf::BubbleDrain:
        bubbleOf(split, BubblePhase::Drain) += ns;
        return;
    case Leaf::BubbleImbalance:
        split.imbalanceNs += ns;
        return;
    case Leaf::Copy:
        split.copyNs += ns;
        return;
    case Leaf::Host:
        split.hostNs += ns;
        return;
    case Leaf::Launch:
        split.launchNs += ns;
        return;
    case Leaf::KernelGap:
        split.kernelGapNs += ns;
        return;
    case Leaf::Data:
        split.dataNs += ns;
        return;
    case Leaf::Checkpoint:
        split.checkpointNs += ns;
        return;
    case Leaf::Tail:
        split.tailNs += ns;
        return;
    case Leaf::Lost:
        split.lostNs += ns;
        return;
    case Leaf::DownDetect:
    case Leaf::DownRestart:
    case Leaf::DownRestore:
        split.downNs += ns;
        return;
    case Leaf::Start:
    case Leaf::Shutdown:
        split.startNs += ns;
        return;
    case Leaf::Planned:
        split.plannedNs += ns;
        return;
    case Leaf::Unattributed:
        break;
    }
    split.idleNs += ns;
}

std::optional<double> OverlapSummary::overlapShare() const
{
    if (communicationNs == 0)
        return std::nullopt;
    return static_cast<double>(overlapNs) / static_cast<double>(communicationNs);
}

OverlapSummary overlapSummary(const RankRows& rows, std::span<const Window> stretches)
{
    const auto windows = [](const auto& spans) {
        std::vector<Window> all;
        all.reserve(spans.size());
        for (const auto& span : spans)
            all.push_back({ span.beginNs, span.endNs });
        return all;
    };
    return overlapSummary(windows(rows.kernels), windows(rows.parts), windows(rows.copies), stretches);
}

OverlapSummary overlapSummary(std::vector<Window> kernels, std::vector<Window> parts, std::vector<Window> copied,
    std::span<const Window> stretches)
{
    const Intervals compute = intersection(unionOf(std::move(kernels)), stretches);
    const Intervals communication = intersection(unionOf(std::move(parts)), stretches);
    const Intervals exposed = difference(communication, compute);
    const Intervals copies
        = difference(difference(intersection(unionOf(std::move(copied)), stretches), compute), communication);

    OverlapSummary summary;
    summary.windowNs = totalNs(stretches);
    summary.computeNs = totalNs(compute);
    summary.communicationNs = totalNs(communication);
    summary.exposedNs = totalNs(exposed);
    summary.overlapNs = summary.communicationNs - summary.exposedNs;
    summary.copyNs = totalNs(copies);
    summary.idleNs = summary.windowNs - summary.computeNs - summary.exposedNs - summary.copyNs;
    return summary;
}

} // namespace rankscope::tracing
