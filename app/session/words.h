#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rankscope::app {

/// Numbers as they stand on screen (LOOK, section 4).
std::string formatDuration(std::int64_t ns); ///< three digits and a unit: "1.01 s", "12.2 ms", "4.31 µs", "830 ns"
std::string formatShare(double share); ///< 0 to 1 as "68.3 %", "< 0.1 %"
std::string formatShareNumber(double share); ///< without the sign, for columns: "68.3"
std::string formatCount(std::int64_t count); ///< "1,234,567"
std::string formatBytes(std::int64_t bytes); ///< "1.50 GB", 1e9 bytes
std::string plural(std::int64_t count, std::string_view one, std::string_view many); ///< "1 rank", "4 ranks"

} // namespace rankscope::app
