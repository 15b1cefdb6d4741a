#include "tracing/record/clock.h"

#include <cerrno>
#include <fstream>
#include <string>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rankscope::tracing {

namespace {

#if defined(__x86_64__)
bool hasInvariantTsc()
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

/// The kernel gives up the TSC when it sees cores disagree; then so do we.
bool kernelDistrustsTsc()
{
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string source;
    file >> source;
    return source == "hpet" || source == "acpi_pm" || source == "jiffies";
}
#endif

} // namespace

ClockKind chooseClock()
{
#if defined(__x86_64__)
    if (hasInvariantTsc() && !kernelDistrustsTsc())
        return ClockKind::Tsc;
#endif
    return ClockKind::MonotonicNs;
}

ClockPair readClockPair(ClockKind kind)
{
    ClockPair best;
    std::uint64_t bestGap = UINT64_MAX;
    for (int attempt = 0; attempt < 5; ++attempt) {
        const std::uint64_t before = readTicks(kind);
        const std::int64_t monotonicNs = clockNs(CLOCK_MONOTONIC);
        const std::int64_t realtimeNs = clockNs(CLOCK_REALTIME);
        const std::uint64_t gap = readTicks(kind) - before;
        if (gap < bestGap) {
            bestGap = gap;
            best = { before + gap / 2, monotonicNs, realtimeNs };
        }
    }
    return best;
}

double nsPerTick(const ClockPair& from, const ClockPair& to)
{
    if (to.ticks <= from.ticks || to.monotonicNs <= from.monotonicNs)
        return 0;
    const double rate
        = static_cast<double>(to.monotonicNs - from.monotonicNs) / static_cast<double>(to.ticks - from.ticks);
    // Counters of real machines run between 1 MHz and 100 GHz.
    return rate >= 0.01 && rate <= 1000 ? rate : 0;
}

Calibration calibrateClock(std::int64_t spanNs)
{
    Calibration result{};
    result.kind = chooseClock();
    result.opened = readClockPair(result.kind);
    // Asleep, so that it costs the job nothing; a signal may wake us early.
    const std::int64_t endNs = result.opened.monotonicNs + spanNs;
    const timespec end{ endNs / 1'000'000'000, endNs % 1'000'000'000 };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) { }
    do
        result.calibrated = readClockPair(result.kind);
    while (result.calibrated.monotonicNs < endNs);
    result.nsPerTick = nsPerTick(result.opened, result.calibrated);
    return result;
}

} // namespace rankscope::tracing
