#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rankscope::tracing {

/// Microseconds as a decimal text ("1698955060096688", "4458676522690.655", "1e3") to integer ns, exactly: digits
/// beyond the third decimal round half away from zero. None: not a number, NaN, or beyond 64 bits.
std::optional<std::int64_t> microsecondsToNs(std::string_view text);

/// A whole number; a fraction is cut off. None: not a number or beyond 64 bits.
std::optional<std::int64_t> wholeNumber(std::string_view text);

} // namespace rankscope::tracing
