#pragma once

#include <cmath>
#include <cstdint>

namespace rankscope::tracing {

/// Moves the times of one clock onto another: t + shift + drift (t - pivot). Order is kept, and without a drift also
/// every duration, to the nanosecond.
struct ClockMap {
    std::int64_t shiftNs = 0;
    double drift = 0; ///< 1e-6: a microsecond in a second
    std::int64_t pivotNs = 0; ///< where the shift is the whole difference

    std::int64_t operator()(std::int64_t ns) const
    {
        return drift == 0 ? ns + shiftNs : ns + shiftNs + std::llround(drift * static_cast<double>(ns - pivotNs));
    }
    /// First this one, then the other.
    ClockMap then(const ClockMap& next) const
    {
        const std::int64_t there = pivotNs + shiftNs;
        return { next(there) - pivotNs, drift + next.drift + drift * next.drift, pivotNs };
    }
};

} // namespace rankscope::tracing
