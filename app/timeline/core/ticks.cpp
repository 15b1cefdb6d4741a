#include "app/timeline/core/ticks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace rankscope::app::timeline {
namespace {

struct Unit {
    double ns;
    const char* name;
};

Unit unitFor(double largestNs)
{
    if (largestNs >= 1e9)
        return { 1e9, "s" };
    if (largestNs >= 1e6)
        return { 1e6, "ms" };
    if (largestNs >= 1e3)
        return { 1e3, "µs" };
    return { 1, "ns" };
}

std::string text(double ns, double stepNs, Unit unit, const char* sign)
{
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(stepNs / unit.ns) - 1e-9)), 0, 9);
    std::array<char, 64> buffer{};
    const double value = ns / unit.ns;
    std::snprintf(buffer.data(), buffer.size(), "%s%.*f %s", sign, decimals, value == 0 ? 0.0 : value, unit.name);
    return buffer.data();
}

} // namespace

std::vector<Tick> rulerTicks(const TimeMap& map, double minPx)
{
    const double wantedNs = std::max(1.0, minPx * map.nsPerPx);
    const double decade = std::pow(10, std::floor(std::log10(wantedNs)));
    const double ratio = wantedNs / decade;
    const int factor = ratio <= 1.0001 ? 1 : ratio <= 2.0001 ? 2 : ratio <= 5.0001 ? 5 : 10;
    const double step = decade * factor;
    const int parts = factor == 2 ? 4 : 5;
    const double minor = step / parts;

    // More than five digits are hard to read and to compare: count from the first major tick instead.
    const double reach = std::max(std::abs(map.beginNs), std::abs(map.endNs()));
    const bool relative = reach / step > 20000;
    const double origin = relative ? std::ceil(map.beginNs / step) * step : 0;
    const Unit unit = unitFor(relative ? map.spanNs() : reach);

    std::vector<Tick> ticks;
    const auto first = static_cast<std::int64_t>(std::floor(map.beginNs / minor));
    const auto last = static_cast<std::int64_t>(std::ceil(map.endNs() / minor));
    for (std::int64_t i = first; i <= last; ++i) {
        const double ns = static_cast<double>(i) * minor;
        Tick tick{ ns, {} };
        if (i % parts == 0) {
            if (!relative)
                tick.text = text(ns, step, unit, "");
            else if (std::abs(ns - origin) < minor / 2)
                tick.text = text(ns, step, unitFor(reach), "");
            else
                tick.text = text(ns - origin, step, unit, ns > origin ? "+" : "");
        }
        ticks.push_back(std::move(tick));
    }
    return ticks;
}

} // namespace rankscope::app::timeline
