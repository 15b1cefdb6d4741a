#pragma once

#include "tracing/model/result.h"
#include "tracing/record/clock.h"

#include <cstdint>
#include <optional>
#include <string>

namespace rankscope::tracing {

/// Turns a node's ticks into ns on the run's clock. All ranks of a node share the counter, hence one line for all of
/// them, the same before and after a restart of the collector: it is kept in the session directory.
class RunClock {
public:
    RunClock() = default;
    RunClock(ClockKind kind, std::uint64_t originTicks, double nsPerTick, std::int64_t originUtcNs);

    /// The line of the session, or a new one that starts now and is kept. A session left over from another boot, or
    /// without a line, takes that of `fallback`, a ring's own calibration, if there is one.
    static Result<RunClock> ofSession(const std::string& sessionDir, const std::optional<Calibration>& fallback);

    /// None where the ticks cannot be of this run (a damaged record): more than a year away from its origin.
    std::optional<std::int64_t> toNs(std::uint64_t ticks) const
    {
        const double ns = static_cast<double>(static_cast<std::int64_t>(ticks - originTicks_)) * nsPerTick_;
        constexpr double kYearNs = 3.2e16;
        if (!(ns > -kYearNs && ns < kYearNs)) [[unlikely]]
            return std::nullopt;
        return static_cast<std::int64_t>(ns);
    }

    std::uint64_t toTicks(std::int64_t ns) const
    {
        return originTicks_
            + static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<double>(ns) / nsPerTick_));
    }

    ClockKind kind() const { return kind_; }
    double nsPerTick() const { return nsPerTick_; }
    std::int64_t originUtcNs() const { return originUtcNs_; }

private:
    ClockKind kind_ = ClockKind::Tsc;
    std::uint64_t originTicks_ = 0;
    double nsPerTick_ = 1;
    std::int64_t originUtcNs_ = 0;
};

} // namespace rankscope::tracing
