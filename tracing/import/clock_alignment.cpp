#include "tracing/import/clock_alignment.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

std::int64_t quantile(std::vector<std::int64_t> values, double q)
{
    if (values.empty())
        return 0;
    const auto at = static_cast<std::ptrdiff_t>(std::llround(q * static_cast<double>(values.size() - 1)));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

/// Operations that nobody can leave before everybody has entered.
bool synchronises(CollectiveOp op)
{
    switch (op) {
    case CollectiveOp::AllReduce:
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter:
    case CollectiveOp::AllToAll:
    case CollectiveOp::Barrier:
        return true;
    default:
        return false;
    }
}

std::string milliseconds(std::int64_t ns)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.3g ms", static_cast<double>(ns) / 1e6);
    return text;
}

bool onOneClock(std::span<const SourceTrace> traces)
{
    return !traces.empty() && !traces.front().clock.empty()
        && std::ranges::all_of(traces, [&](const SourceTrace& trace) { return trace.clock == traces.front().clock; });
}

} // namespace

Alignment alignClocks(std::span<SourceTrace> traces, const MatchResult& matches)
{
    Alignment out;
    if (onOneClock(traces)) {
        out.aligned = true;
        return out;
    }
    const std::int64_t base = traces.empty() ? 0 : traces.front().baseNs;
    std::vector<std::vector<std::int64_t>> differences(traces.size()); // end of the rank less the median end
    std::vector<std::int64_t> transfers; // shortest part of each: nobody waits in it
    for (const SourceInstance& instance : matches.instances) {
        if (instance.members.size() < 2 || !synchronises(instance.op))
            continue;
        std::vector<std::int64_t> ends;
        std::int64_t shortest = INT64_MAX;
        for (const auto& member : instance.members) {
            const SourcePart& part = traces[member.trace].parts[member.part];
            ends.push_back(part.endNs + traces[member.trace].baseNs - base);
            shortest = std::min(shortest, part.endNs - part.beginNs);
        }
        const std::int64_t centre = quantile(ends, 0.5);
        for (std::size_t i = 0; i < ends.size(); ++i)
            differences[instance.members[i].trace].push_back(ends[i] - centre);
        transfers.push_back(shortest);
        ++out.anchors;
    }
    if (out.anchors == 0) {
        out.note = traces.size() > 1 ? "clocks not compared: no collective is in two files" : "";
        return out;
    }
    // Ranks of one node read one clock: they move together, by the median of all their differences.
    std::map<std::string, std::vector<std::int64_t>> byNode;
    const auto clockOf = [&](std::size_t t) {
        const SourceTrace& trace = traces[t];
        return !trace.clock.empty() ? trace.clock : trace.node.empty() ? "#" + std::to_string(t) : trace.node;
    };
    for (std::size_t t = 0; t < traces.size(); ++t)
        byNode[clockOf(t)].insert(byNode[clockOf(t)].end(), differences[t].begin(), differences[t].end());
    std::vector<std::int64_t> shifts(traces.size(), 0), errors(traces.size(), 0);
    for (std::size_t t = 0; t < traces.size(); ++t) {
        shifts[t] = byNode.size() > 1 ? -quantile(byNode[clockOf(t)], 0.5) : 0;
        std::vector<std::int64_t> left;
        for (const std::int64_t difference : differences[t])
            left.push_back(std::abs(difference + shifts[t]));
        errors[t] = quantile(left, 0.95);
        out.errorNs = std::max(out.errorNs, errors[t]);
        out.greatestShiftNs = std::max(out.greatestShiftNs, std::abs(shifts[t]));
    }
    if (out.errorNs > kMillisecond && out.errorNs > quantile(transfers, 0.5) / 2) {
        out.note = "clocks not aligned: ends of the same collectives differ by " + milliseconds(out.errorNs)
            + " after the best shift, more than a transfer takes";
        for (std::size_t t = 0; t < traces.size(); ++t)
            traces[t].clockErrorNs = out.errorNs + std::abs(shifts[t]);
        return out;
    }
    for (std::size_t t = 0; t < traces.size(); ++t) {
        traces[t].clockShiftNs = shifts[t];
        traces[t].clockErrorNs = errors[t];
    }
    out.aligned = true;
    out.note = "clocks moved by at most " + milliseconds(out.greatestShiftNs) + ", ends then agree within "
        + milliseconds(out.errorNs) + " (" + std::to_string(out.anchors) + " collectives)";
    return out;
}

} // namespace rankscope::tracing
