#include "tracing/import/json/decimal.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace rankscope::tracing {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// The rare forms: exponents. A double has 15 digits, which is what such writers had themselves.
std::optional<std::int64_t> fromDouble(std::string_view text, double factor)
{
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)
        || std::abs(value * factor) > 9.2e18)
        return std::nullopt;
    return std::llround(value * factor);
}

} // namespace

std::optional<std::int64_t> microsecondsToNs(std::string_view text)
{
    const char* at = text.data();
    const char* const end = at + text.size();
    const bool negative = at != end && *at == '-';
    if (negative)
        ++at;
    if (at == end || !isDigit(*at))
        return std::nullopt;
    std::int64_t value = 0;
    for (; at != end && isDigit(*at); ++at) {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at - '0', &value))
            return std::nullopt;
    }
    if (at != end && *at != '.')
        return fromDouble(text, 1e3);
    if (__builtin_mul_overflow(value, 1000, &value))
        return std::nullopt;
    std::int64_t fraction = 0;
    int digits = 0;
    if (at != end)
        ++at;
    for (; at != end && isDigit(*at); ++at, ++digits) {
        if (digits < 3)
            fraction = fraction * 10 + (*at - '0');
        else if (digits == 3 && *at >= '5')
            ++fraction;
    }
    if (at != end)
        return fromDouble(text, 1e3);
    for (; digits < 3; ++digits)
        fraction *= 10;
    if (__builtin_add_overflow(value, fraction, &value))
        return std::nullopt;
    return negative ? -value : value;
}

std::optional<std::int64_t> wholeNumber(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc() && end == text.data() + text.size())
        return value;
    if (code == std::errc::result_out_of_range || text.empty())
        return std::nullopt;
    double real = 0;
    const auto [realEnd, realCode] = std::from_chars(text.data(), text.data() + text.size(), real);
    if (realCode != std::errc() || realEnd != text.data() + text.size() || !(std::abs(real) < 9.2e18))
        return std::nullopt;
    return static_cast<std::int64_t>(real);
}

} // namespace rankscope::tracing
