#include "tracing/export/traces/run_values.h"

#include <fmt/format.h>

#include <set>

namespace rankscope::tracing {

std::vector<std::pair<std::string, std::string>> runValues(const RunFacts& facts)
{
    std::vector<std::pair<std::string, std::string>> values;
    values.emplace_back("source", facts.run.source);
    values.emplace_back("world_size", fmt::format("{}", facts.run.worldSize));
    values.emplace_back("origin_utc_ns", fmt::format("{}", facts.run.originUtcNs));
    if (facts.run.coresPerNode)
        values.emplace_back("cores_per_node", fmt::format("{}", *facts.run.coresPerNode));
    for (const auto& [key, value] : facts.provenance) {
        if (key.starts_with("config."))
            values.emplace_back(key, value);
    }
    for (const LinkSpeed& link : facts.links)
        values.emplace_back(
            fmt::format("link.{}.{}", link.from, link.to), fmt::format("{} {}", link.latencyNs, link.bytesPerSecond));
    std::set<std::string> named;
    for (const Lane& lane : facts.lanes) {
        if (lane.kind == LaneKind::Counter && !lane.unit.empty() && named.insert(lane.name).second)
            values.emplace_back("unit." + lane.name, lane.unit);
    }
    return values;
}

} // namespace rankscope::tracing
