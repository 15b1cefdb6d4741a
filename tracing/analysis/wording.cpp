#include "tracing/analysis/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace rankscope::tracing {

namespace {

/// Three significant digits: 1.01, 12.2, 830.
std::string threeDigits(double value)
{
    const double size = std::abs(value);
    return size >= 99.95 ? fmt::format("{:.0f}", value)
        : size >= 9.995  ? fmt::format("{:.1f}", value)
                         : fmt::format("{:.2f}", value);
}

struct Unit {
    double size;
    const char* name;
};

/// In the largest unit that leaves at least 1, after rounding to three digits: 999.7 ms reads 1.00 s.
template <std::size_t N> std::string inUnit(double value, const std::array<Unit, N>& units)
{
    for (const Unit& unit : units) {
        if (std::abs(value) >= 0.9995 * unit.size)
            return threeDigits(value / unit.size) + " " + unit.name;
    }
    return fmt::format("{:.0f} {}", value / units.back().size, units.back().name);
}

constexpr std::array<Unit, 4> kTimes{ { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" }, { 1, "ns" } } };
constexpr std::array<Unit, 5> kBytes{ { { 1e12, "TB" }, { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "kB" }, { 1, "B" } } };

} // namespace

std::string shareText(double share)
{
    const double percent = 100 * share;
    if (percent > 0 && percent < 0.05)
        return "< 0.1 %";
    return fmt::format("{:.1f} %", percent);
}

std::string timeText(std::int64_t ns)
{
    if (std::abs(ns) < 1000)
        return fmt::format("{} ns", ns);
    return inUnit(static_cast<double>(ns), kTimes);
}

std::string rangeText(std::int64_t lowNs, std::int64_t highNs)
{
    const std::string low = timeText(lowNs), high = timeText(highNs);
    const std::size_t unit = low.find(' ');
    const bool sameUnit = low.substr(unit) == high.substr(high.find(' '));
    return (sameUnit ? low.substr(0, unit) : low) + " to " + high;
}

std::string alertTimeText(const LiveAlert& alert, Window run)
{
    return timeText(std::max<std::int64_t>(0, alert.window.endNs - run.beginNs));
}

std::string alertDetail(const LiveAlert& alert, Window run)
{
    std::string text = "at " + alertTimeText(alert, run) + "; " + alert.text;
    for (std::size_t at = 0; (at = text.find("; ", at)) != std::string::npos;)
        text.replace(at, 2, " · ");
    return text;
}

std::string bytesText(std::int64_t bytes)
{
    if (std::abs(bytes) < 1000)
        return fmt::format("{} B", bytes);
    return inUnit(static_cast<double>(bytes), kBytes);
}

std::string rateText(double perSecond, const char* unit)
{
    constexpr std::array<Unit, 5> kPrefixes{ { { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" }, { 1e3, "k" }, { 1, "" } } };
    return inUnit(perSecond, kPrefixes) + unit + "/s";
}

std::string gbpsText(double gbPerSecond)
{
    const double size = std::abs(gbPerSecond);
    if (size == 0 || size >= 0.01 || !std::isfinite(size))
        return fmt::format("{:.3f}", gbPerSecond);
    // Two digits, however small: 0.0042, 0.000012.
    const int decimals = 1 - static_cast<int>(std::floor(std::log10(size)));
    return fmt::format("{:.{}f}", gbPerSecond, decimals);
}

std::string changeText(double now, double before)
{
    if (before <= 0)
        return "-";
    const double percent = 100 * (now / before - 1);
    return std::abs(percent) < 0.05 ? "no change" : fmt::format("{:+.1f} %", percent);
}

std::string countText(std::int64_t count)
{
    const std::string digits = fmt::format("{}", std::abs(count));
    std::string text = count < 0 ? "-" : "";
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0)
            text += ',';
        text += digits[i];
    }
    return text;
}

std::string plural(std::int64_t count, const std::string& noun)
{
    return countText(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string sourceName(const std::string& source)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames{ { { "rankscope", "Rankscope" },
        { "pytorch", "PyTorch" }, { "chrome", "Chrome trace" }, { "nsight", "Nsight Systems" },
        { "mindstudio", "MindStudio" }, { "pipeline", "pipeline timeline" }, { "table", "tables" } } };
    const auto found = std::ranges::find(kNames, std::string_view(source), &decltype(kNames)::value_type::first);
    return found == kNames.end() ? source : std::string(found->second);
}

std::string ranksText(std::span<const std::int32_t> ranks)
{
    constexpr std::size_t kNamed = 3;
    if (ranks.size() == 1)
        return fmt::format("rank {}", ranks[0]);
    const bool inRow
        = std::adjacent_find(ranks.begin(), ranks.end(), [](int a, int b) { return b != a + 1; }) == ranks.end();
    if (ranks.size() > 2 && inRow)
        return fmt::format("ranks {}-{}", ranks.front(), ranks.back());
    const std::size_t named = ranks.size() <= kNamed + 1 ? ranks.size() : kNamed;
    std::string text = "ranks ";
    for (std::size_t i = 0; i < named; ++i)
        text += fmt::format("{}{}", i ? ", " : "", ranks[i]);
    if (named < ranks.size())
        text += fmt::format(" and {} more", ranks.size() - named);
    return text;
}

} // namespace rankscope::tracing
