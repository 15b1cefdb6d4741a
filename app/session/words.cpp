#include "app/session/words.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace rankscope::app {
namespace {

struct Unit {
    double size;
    const char* name;
};

/// Three digits: 1.01, 12.2, 983. A value that rounds to 1000 belongs to the next unit.
std::string threeDigits(double value, const char* unit)
{
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    std::array<char, 48> text {};
    std::snprintf(text.data(), text.size(), "%.*f %s", decimals, value, unit);
    return text.data();
}

template <std::size_t N> std::string withUnit(double value, const std::array<Unit, N>& units)
{
    for (const Unit& unit : units) {
        if (value >= unit.size * 0.9995)
            return threeDigits(value / unit.size, unit.name);
    }
    return threeDigits(value / units.back().size, units.back().name);
}

} // namespace

std::string formatDuration(std::int64_t ns)
{
    if (ns < 0)
        return "-" + formatDuration(-ns);
    if (ns < 1000)
        return std::to_string(ns) + " ns";
    constexpr std::int64_t kMinuteNs = 60'000'000'000;
    if (ns >= 100 * kMinuteNs)
        return threeDigits(static_cast<double>(ns) / (60.0 * kMinuteNs), "h");
    if (ns >= 10 * kMinuteNs)
        return threeDigits(static_cast<double>(ns) / kMinuteNs, "min");
    static constexpr std::array<Unit, 3> kUnits { { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" } } };
    return withUnit(static_cast<double>(ns), kUnits);
}

std::string formatShareNumber(double share)
{
    const double percent = share * 100.0;
    if (percent > 0 && percent < 0.05)
        return "< 0.1";
    std::array<char, 32> text {};
    std::snprintf(text.data(), text.size(), "%.1f", percent);
    return text.data();
}

std::string formatShare(double share) { return formatShareNumber(share) + " %"; }

std::string formatCount(std::int64_t count)
{
    std::string text = std::to_string(count);
    const std::size_t firstDigit = count < 0 ? 1 : 0;
    for (std::size_t at = text.size(); at > firstDigit + 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

std::string formatBytes(std::int64_t bytes)
{
    if (bytes < 1000)
        return std::to_string(bytes) + " B";
    static constexpr std::array<Unit, 4> kUnits { { { 1e12, "TB" }, { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "kB" } } };
    return withUnit(static_cast<double>(bytes), kUnits);
}

std::string plural(std::int64_t count, std::string_view one, std::string_view many)
{
    return formatCount(count) + " " + std::string(count == 1 ? one : many);
}

} // namespace rankscope::app
