#pragma once

#include "tracing/analysis/hta.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

// HTA's further tables by its own rules (see hta.h); each of one rank unless it says otherwise.

/// Of a list of numbers, as pandas describes it: quartiles are interpolated, the deviation is the sample's.
struct HtaStatistics {
    std::int64_t count = 0;
    double sum = 0, mean = 0, min = 0, q25 = 0, q50 = 0, q75 = 0, max = 0; ///< 0 of nothing
    std::optional<double> deviation; ///< none of fewer than two
};
HtaStatistics htaStatisticsOf(std::vector<double> numbers);

/// Why a stream is idle before a kernel or copy: it was launched after the one before had ended; it was not, and begins
/// within 30 us; neither.
enum class HtaIdle : std::uint8_t { HostWait, KernelWait, Other };
std::string_view toString(HtaIdle idle); ///< "host_wait", "kernel_wait", "other"

struct HtaIdleRow {
    std::int64_t stream = 0;
    HtaIdle category = HtaIdle::Other;
    double share = 0; ///< of the stream's idle time, two decimals; 0 where it has none
    HtaStatistics us; ///< of the gaps. One between rows that overlap is negative
};
/// By stream, then category. HTA shows Other for every stream.
std::vector<HtaIdleRow> htaIdleOf(const HtaTrace& trace);

/// How many kernels and copies were launched and had not begun, at each change.
struct HtaQueueRow {
    std::int64_t stream = 0;
    HtaStatistics length; ///< where a launch and a begin fall on one time the launch counts first
    std::int64_t openToOrder = 0; ///< HTA's sort leaves that order open: its lengths may sum to so much less
};
std::vector<HtaQueueRow> htaQueuesOf(const HtaTrace& trace);

/// A launch and what it launched.
struct HtaLaunch {
    std::int64_t correlation = 0;
    std::int64_t cpuNs = 0;
    std::int64_t gpuNs = 0;
    std::int64_t delayNs = 0; ///< from the call's end to the kernel's begin; 0 where that comes first
};
std::vector<HtaLaunch> htaLaunchesOf(const HtaTrace& trace);

/// Time in which exactly these classes ran, over all ranks; most first.
struct HtaSubsetRow {
    bool computation = false, communication = false, memory = false;
    std::int64_t ns = 0;
    double percent = 0; ///< of all that is not idle, one decimal
};
std::vector<HtaSubsetRow> htaSubsetsOf(const std::vector<HtaTrace>& traces);

/// Plain durations of the rows of one name.
struct HtaKernelRow {
    std::string_view name;
    HtaClass type = HtaClass::Other;
    HtaStatistics us;
};
std::vector<HtaKernelRow> htaKernelsOf(const HtaTrace& trace);

} // namespace rankscope::tracing
