#pragma once

#include "tracing/record/ring_layout.h"

#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace rankscope::tracing {

/// What this machine counts time with: the TSC where it runs at one rate on all cores, else CLOCK_MONOTONIC in ns.
ClockKind chooseClock();

inline std::int64_t clockNs(clockid_t id) noexcept
{
    timespec now{};
    clock_gettime(id, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

inline std::uint64_t readTicks(ClockKind kind) noexcept
{
#if defined(__x86_64__)
    if (kind == ClockKind::Tsc) [[likely]]
        return __rdtsc();
#else
    static_cast<void>(kind);
#endif
    return static_cast<std::uint64_t>(clockNs(CLOCK_MONOTONIC));
}

/// The three clocks read as close together as the machine lets us (best of a few tries).
ClockPair readClockPair(ClockKind kind);

/// Nanoseconds of one tick between two instants; 0 where they do not tell (same tick, backwards, absurd rate).
double nsPerTick(const ClockPair& from, const ClockPair& to);

/// Two instants at least 2 ms apart, read once a process.
struct Calibration {
    ClockKind kind;
    ClockPair opened;
    ClockPair calibrated;
    double nsPerTick;
};
Calibration calibrateClock(std::int64_t spanNs = 2'000'000);

} // namespace rankscope::tracing
