#include "tracing/export/leaves.h"

#include <fmt/format.h>

namespace rankscope::tracing {

namespace {

void addByDimension(std::vector<Leaf>& leaves, const char* name, const std::array<std::int64_t, kDimensionCount>& parts)
{
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i] > 0)
            leaves.push_back({ fmt::format("{}.{}", name, toString(static_cast<Dimension>(i))), parts[i] });
    }
}

} // namespace

std::vector<Leaf> leavesOf(const TimeSplit& split)
{
    std::vector<Leaf> leaves{
        { "unattributed", split.idleNs },
        { "compute", split.computeNs - split.optimizerNs },
        { "optimizer", split.optimizerNs },
        { "descheduled", split.descheduledNs },
    };
    addByDimension(leaves, "transfer", split.transferByDimensionNs);
    addByDimension(leaves, "wait", split.waitByDimensionNs);
    leaves.push_back({ "communication.unsplit", split.unsplitNs });
    for (std::size_t i = 0; i < split.bubbleByPhaseNs.size(); ++i) {
        leaves.push_back(
            { fmt::format("bubble.structural.{}", toString(static_cast<BubblePhase>(i))), split.bubbleByPhaseNs[i] });
    }
    leaves.push_back({ "bubble.imbalance", split.imbalanceNs });
    leaves.push_back({ "copy", split.copyNs });
    leaves.push_back({ "host", split.hostNs });
    leaves.push_back({ "launch", split.launchNs });
    leaves.push_back({ "kernel_gap", split.kernelGapNs });
    leaves.push_back({ "data", split.dataNs });
    leaves.push_back({ "checkpoint", split.checkpointNs });
    leaves.push_back({ "tail", split.tailNs });
    leaves.push_back({ "lost", split.lostNs });
    leaves.push_back({ "down", split.downNs });
    leaves.push_back({ "planned", split.plannedNs });
    leaves.push_back({ "start", split.startNs });
    return leaves;
}

std::vector<Leaf> leavesInWords(const TimeSplit& split)
{
    std::vector<Leaf> leaves{
        { "unattributed", split.unattributedNs() },
        { "compute", split.computeNs },
        { "transfer", split.transferNs },
        { "waiting for others", split.waitNs },
        { "communication, unsplit", split.unsplitNs },
        { "pipeline bubble", split.bubbleNs() },
        { "pipeline imbalance", split.imbalanceNs },
        { "copy", split.copyNs },
        { "host late", split.hostNs },
        { "launch, gaps", split.gapNs() },
        { "data", split.dataNs },
        { "checkpoint", split.checkpointNs },
        { "lost, restarting", split.lostNs + split.downNs },
        { "validation", split.plannedNs },
        { "start, shutdown", split.startNs },
        { "descheduled", split.descheduledNs },
    };
    std::erase_if(leaves, [](const Leaf& leaf) { return leaf.ns == 0; });
    return leaves;
}

} // namespace rankscope::tracing
