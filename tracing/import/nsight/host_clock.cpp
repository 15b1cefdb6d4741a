#include "tracing/import/nsight/host_clock.h"

#include "tracing/import/json/decimal.h"

#include <map>
#include <string>

namespace rankscope::tracing {

void alignReportsOfHosts(std::span<SourceTrace> traces)
{
    constexpr std::int64_t kHour = 3'600'000'000'000;
    struct Session {
        std::int64_t baseNs = 0, systemNs = 0;
    };
    std::map<std::string, Session> firstOfHost;
    for (SourceTrace& trace : traces) {
        const auto fact = trace.metadata.find("system_clock_ns");
        if (trace.format != "nsight" || trace.node.empty() || fact == trace.metadata.end())
            continue;
        const std::int64_t system = wholeNumber(fact->second).value_or(0);
        if (system <= 0)
            continue;
        const auto [it, isNew] = firstOfHost.try_emplace(trace.node, Session{ trace.baseNs, system });
        std::int64_t distance = 0, base = 0, set = 0;
        if (!isNew && !__builtin_sub_overflow(system, it->second.systemNs, &distance)
            && !__builtin_add_overflow(it->second.baseNs, distance, &base)
            && !__builtin_sub_overflow(base, trace.baseNs, &set) && set < kHour && set > -kHour)
            trace.baseNs = base;
    }
}

} // namespace rankscope::tracing
