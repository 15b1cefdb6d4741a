#include "tracing/collector/run_clock.h"

#include <cstdio>
#include <fstream>
#include <limits>

namespace rankscope::tracing {

namespace {

/// Long enough that reading two clocks one after the other (some 30 ns apart) costs 1 part in a million of the rate.
constexpr std::int64_t kCalibrateNs = 30'000'000;

std::optional<RunClock> load(const std::string& path)
{
    std::ifstream file(path);
    std::string word;
    std::uint32_t kind = 0;
    std::uint64_t originTicks = 0;
    double nsPerTick = 0;
    std::int64_t originUtcNs = 0;
    file >> word >> kind >> originTicks >> nsPerTick >> originUtcNs;
    const bool isKnown = kind == static_cast<std::uint32_t>(ClockKind::Tsc)
        || kind == static_cast<std::uint32_t>(ClockKind::MonotonicNs);
    if (!file || word != "rankscope-clock-1" || !isKnown || !(nsPerTick >= 0.01 && nsPerTick <= 1000))
        return std::nullopt;
    return RunClock(static_cast<ClockKind>(kind), originTicks, nsPerTick, originUtcNs);
}

RunClock lineOf(const Calibration& calibration)
{
    return { calibration.kind, calibration.opened.ticks, calibration.nsPerTick, calibration.opened.realtimeNs };
}

Status keep(const std::string& path, const Calibration& calibration)
{
    const std::string draft = path + ".new";
    std::ofstream file(draft);
    file.precision(std::numeric_limits<double>::max_digits10);
    file << "rankscope-clock-1 " << static_cast<std::uint32_t>(calibration.kind) << ' ' << calibration.opened.ticks
         << ' ' << calibration.nsPerTick << ' ' << calibration.opened.realtimeNs << '\n';
    file.close();
    if (!file || std::rename(draft.c_str(), path.c_str()) != 0)
        return Error("write " + path + ": the session directory is full or not writable");
    return Done{};
}

} // namespace

RunClock::RunClock(ClockKind kind, std::uint64_t originTicks, double nsPerTick, std::int64_t originUtcNs)
    : kind_(kind)
    , originTicks_(originTicks)
    , nsPerTick_(nsPerTick)
    , originUtcNs_(originUtcNs)
{
}

Result<RunClock> RunClock::ofSession(const std::string& sessionDir, const std::optional<Calibration>& fallback)
{
    const std::string path = sessionDir + "/clock";
    if (auto known = load(path))
        return *known;
    const Calibration calibration = fallback && fallback->nsPerTick > 0 ? *fallback : calibrateClock(kCalibrateNs);
    if (const Status kept = keep(path, calibration); !kept)
        return kept.error();
    return lineOf(calibration);
}

} // namespace rankscope::tracing
