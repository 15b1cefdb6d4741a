#include "tracing/analysis/run_analysis.h"

#include <algorithm>
#include <map>
#include <string>

namespace rankscope::tracing {

std::optional<int> RunAnalysis::sharedCores() const
{
    std::map<std::string, int> ranksOnNode;
    for (const RankInfo& rank : facts.ranks)
        ++ranksOnNode[rank.node];
    if (!facts.run.coresPerNode)
        return std::nullopt;
    const int cores = *facts.run.coresPerNode;
    const bool share
        = std::any_of(ranksOnNode.begin(), ranksOnNode.end(), [&](const auto& node) { return node.second > cores; });
    return share ? std::optional(cores * static_cast<int>(ranksOnNode.size())) : std::nullopt;
}

std::int64_t RunAnalysis::capacityNs() const { return total.windowNs - (sharedCores() ? total.descheduledNs : 0); }

double RunAnalysis::shareOf(std::int64_t ns) const
{
    const std::int64_t capacity = capacityNs();
    return capacity > 0 ? static_cast<double>(ns) / static_cast<double>(capacity) : 0;
}

std::string_view RunAnalysis::capacityWord() const
{
    return gpuTime ? "GPU time" : sharedCores() ? "rank time with a core" : "rank time";
}

} // namespace rankscope::tracing
