#pragma once

#include "tracing/model/rows.h"

#include <cstdint>
#include <span>
#include <string>

namespace rankscope::tracing {

// How numbers read in sentences, reports and on screen (LOOK, section 4).

std::string shareText(double share); ///< 0.683: "68.3 %"; under 0.05 % but not 0: "< 0.1 %"
std::string timeText(std::int64_t ns); ///< three digits and a unit: "1.01 s", "12.2 ms", "4.31 µs", "830 ns"
std::string rangeText(std::int64_t lowNs, std::int64_t highNs); ///< "99.3 to 99.4 ms", "950 ms to 1.01 s"
std::string alertTimeText(const LiveAlert& alert, Window run); ///< when it was raised, counted from the run's begin
/// When it was raised, counted from the run's begin, and what its rule says: "at 1.24 s · threshold 0.75, is 0.5, at
/// step 8 · for ann · mark".
std::string alertDetail(const LiveAlert& alert, Window run);
std::string bytesText(std::int64_t bytes); ///< "12.2 MB", 1 MB = 1e6 bytes
std::string rateText(double perSecond, const char* unit); ///< 2.5e9, "FLOP": "2.50 GFLOP/s"
std::string gbpsText(double gbPerSecond); ///< GB/s without the unit: "1.850", "0.00012", never 0 for what is not 0
std::string changeText(
    double now, double before); ///< "+3.1 %", "no change" where it rounds to that, "-" where before is 0
std::string countText(std::int64_t count); ///< "1,204"
std::string plural(std::int64_t count, const std::string& noun); ///< "1 step", "1,204 steps"
/// Who recorded a run (RunInfo::source), as people write it: "PyTorch"; what has no name here stays.
std::string sourceName(const std::string& source);
std::string ranksText(
    std::span<const std::int32_t> ranks); ///< "rank 2", "ranks 0, 1, 3", "ranks 0-7", "ranks 0, 2, 5 and 9 more"

} // namespace rankscope::tracing
