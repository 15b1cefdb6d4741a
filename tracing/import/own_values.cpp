#include "tracing/import/own_values.h"

#include "tracing/import/json/decimal.h"

#include <algorithm>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kLongestWord = 64;
constexpr std::int64_t kMostRanks = 1 << 16;

std::optional<std::int32_t> smallNumber(std::string_view text, std::int64_t least)
{
    const auto number = wholeNumber(text);
    return number && *number >= least && *number <= kMostRanks ? std::optional(static_cast<std::int32_t>(*number))
                                                               : std::nullopt;
}

/// The two sides of a separator.
std::optional<std::pair<std::string_view, std::string_view>> sidesOf(std::string_view text, char separator)
{
    const std::size_t at = text.find(separator);
    if (at == std::string_view::npos)
        return std::nullopt;
    return std::pair(text.substr(0, at), text.substr(at + 1));
}

} // namespace

void OwnValues::add(std::string_view key, std::string_view value)
{
    constexpr std::string_view kLink = "link.", kUnit = "unit.";
    if (key == "source")
        recorder_ = value.substr(0, kLongestWord);
    else if (key == "world_size")
        worldSize_ = smallNumber(value, 1);
    else if (key == "origin_utc_ns")
        originUtcNs_ = wholeNumber(value);
    else if (key == "cores_per_node")
        coresPerNode_ = smallNumber(value, 1);
    else if (key.starts_with("config."))
        configuration_.insert_or_assign(std::string(key), std::string(value));
    else if (key.starts_with(kUnit))
        units_.insert_or_assign(std::string(key.substr(kUnit.size())), std::string(value));
    else if (key.starts_with(kLink))
        addLink(key.substr(kLink.size()), value);
}

/// "0.1" and "latency in ns, bytes a second", a blank between them.
void OwnValues::addLink(std::string_view ranks, std::string_view speed)
{
    const auto ends = sidesOf(ranks, '.'), numbers = sidesOf(speed, ' ');
    if (!ends || !numbers)
        return;
    const auto from = smallNumber(ends->first, 0), to = smallNumber(ends->second, 0);
    const auto latencyNs = wholeNumber(numbers->first), bytesPerSecond = wholeNumber(numbers->second);
    if (from && to && latencyNs && bytesPerSecond && *latencyNs >= 0 && *bytesPerSecond >= 0)
        links_.push_back({ *from, *to, *latencyNs, *bytesPerSecond });
}

void OwnValues::applyTo(std::span<SourceTrace> traces) const
{
    for (SourceTrace& trace : traces) {
        trace.recorder = recorder_;
        trace.coresPerNode = coresPerNode_;
        trace.baseNs = originUtcNs_.value_or(trace.baseNs);
        trace.worldSize = std::max(trace.worldSize.value_or(0), worldSize_.value_or(0));
        if (trace.worldSize == 0)
            trace.worldSize.reset();
        for (SourceLane& lane : trace.lanes) {
            if (const auto unit = units_.find(lane.name); lane.kind == LaneKind::Counter && unit != units_.end())
                lane.unit = unit->second;
        }
    }
    if (traces.empty())
        return;
    // Once is enough for the whole run.
    traces.front().runFacts.insert(configuration_.begin(), configuration_.end());
    traces.front().links = links_;
}

} // namespace rankscope::tracing
