#include "app/timeline/core/words.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace rankscope::app::timeline {
namespace {

std::string format(const char* pattern, int decimals, double value)
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), pattern, decimals, value);
    return text.data();
}

/// 0.993, 12.2, 830: as many decimals as leave three digits.
std::string threeDigits(double value)
{
    const double size = std::abs(value);
    const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return format("%.*f", decimals, value);
}

struct Scaled {
    double value;
    const char* prefix;
};

Scaled scaled(double value)
{
    constexpr std::array<const char*, 6> prefixes{ "", "k", "M", "G", "T", "P" };
    std::size_t i = 0;
    while (std::abs(value) >= 999.5 && i + 1 < prefixes.size()) {
        value /= 1000;
        ++i;
    }
    return { value, prefixes[i] };
}

} // namespace

std::string durationText(std::int64_t ns)
{
    const double value = static_cast<double>(ns);
    const double size = std::abs(value);
    if (size < 999.5)
        return format("%.*f", 0, value) + " ns";
    if (size < 999.5e3)
        return threeDigits(value / 1e3) + " µs";
    if (size < 999.5e6)
        return threeDigits(value / 1e6) + " ms";
    if (size < 600e9)
        return threeDigits(value / 1e9) + " s";
    if (size < 600e9 * 60)
        return threeDigits(value / 60e9) + " min";
    return threeDigits(value / 3600e9) + " h";
}

std::string bytesText(std::int64_t bytes)
{
    const auto [value, prefix] = scaled(static_cast<double>(bytes));
    return (*prefix == '\0' ? format("%.*f", 0, value) : threeDigits(value)) + " " + prefix + "B";
}

std::string rateText(double perSecond, const char* unit)
{
    const auto [value, prefix] = scaled(perSecond);
    return threeDigits(value) + " " + prefix + unit;
}

std::string numberText(double value)
{
    const double size = std::abs(value);
    if (size < 1e6 && (size >= 1000 || value == std::floor(value)))
        return format("%.*f", 0, value);
    return size >= 0.01 && size < 1000 ? threeDigits(value) : format("%.*g", 3, value);
}

std::string percentText(double share)
{
    const double percent = 100 * share;
    if (percent > 0 && percent < 0.5)
        return "< 1 %";
    return format("%.*f", 0, percent) + " %";
}

} // namespace rankscope::app::timeline
