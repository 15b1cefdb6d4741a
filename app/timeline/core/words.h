#pragma once

#include <cstdint>
#include <string>

namespace rankscope::app::timeline {

/// Numbers as people read them (LOOK, section 4): three digits and a unit.
std::string durationText(std::int64_t ns); ///< "1.01 s", "12.2 ms", "4.31 µs", "830 ns"
std::string bytesText(std::int64_t bytes); ///< powers of ten: "16.8 MB"
std::string rateText(double perSecond, const char* unit); ///< "12.3 GFLOP/s" for unit "FLOP/s"
std::string numberText(double value); ///< three digits, for counters: "4.31", "1.2e+07"
std::string percentText(double share); ///< 0.71 gives "71 %"

} // namespace rankscope::app::timeline
