#include "tracing/import/clock_fit.h"

#include <algorithm>
#include <cmath>

namespace rankscope::tracing {

namespace {

constexpr double kGreatestDrift = 500e-6; ///< what a clock is slewed at most (adjtime); crystals stay below 100e-6
constexpr std::size_t kFewestForDrift = 16;
constexpr std::size_t kMostStretches = 32;
constexpr std::int64_t kWorthADrift = 20'000; ///< ns between both ends of the recording

/// Medians of stretches of samples with about as many in each: outliers do not count, what lasts does.
std::vector<ClockSample> stretches(std::span<const ClockSample> sorted, std::size_t count)
{
    std::vector<ClockSample> out;
    for (std::size_t i = 0; i < count; ++i) {
        const auto part
            = sorted.subspan(i * sorted.size() / count, (i + 1) * sorted.size() / count - i * sorted.size() / count);
        std::vector<std::int64_t> from, difference;
        for (const ClockSample& sample : part) {
            from.push_back(sample.fromNs);
            difference.push_back(sample.toNs - sample.fromNs);
        }
        const std::int64_t at = quantile(from, 0.5);
        out.push_back({ at, at + quantile(difference, 0.5) });
    }
    return out;
}

/// Least squares, about the middle so that doubles suffice.
ClockMap lineThrough(std::span<const ClockSample> points)
{
    ClockMap map;
    map.pivotNs = points[points.size() / 2].fromNs;
    const std::int64_t centre = points[points.size() / 2].toNs - map.pivotNs;
    const auto n = static_cast<double>(points.size());
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (const ClockSample& point : points) {
        const auto x = static_cast<double>(point.fromNs - map.pivotNs);
        const auto y = static_cast<double>(point.toNs - point.fromNs - centre);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    const double determinant = n * sxx - sx * sx;
    map.drift = determinant > 0 ? (n * sxy - sx * sy) / determinant : 0;
    map.shiftNs = centre + std::llround((sy - map.drift * sx) / n);
    return map;
}

} // namespace

std::int64_t quantile(std::vector<std::int64_t> values, double q)
{
    if (values.empty())
        return 0;
    const auto at = static_cast<std::ptrdiff_t>(std::llround(q * static_cast<double>(values.size() - 1)));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

std::int64_t leastMedian(std::vector<std::int64_t> values)
{
    if (values.empty())
        return 0;
    std::ranges::sort(values);
    const std::int64_t low = values[(values.size() - 1) / 2], high = values[values.size() / 2];
    return std::abs(low) <= std::abs(high) ? low : high;
}

ClockFit judgeClock(const ClockMap& map, std::span<const ClockSample> sorted)
{
    ClockFit fit;
    fit.map = map;
    std::vector<std::int64_t> left;
    for (const ClockSample& sample : sorted)
        left.push_back(std::abs(sample.toNs - map(sample.fromNs)));
    fit.residualNs = quantile(left, 0.5);
    fit.errorNs = quantile(left, 0.95);
    // A clock that jumped deviates for a while by the same amount, be it in a few samples only.
    for (const ClockSample& point : stretches(sorted, std::min(kMostStretches, (sorted.size() + 3) / 4)))
        fit.errorNs = std::max(fit.errorNs, std::abs(point.toNs - map(point.fromNs)));
    return fit;
}

ClockFit fitClock(std::span<const ClockSample> samples)
{
    std::vector<ClockSample> sorted(samples.begin(), samples.end());
    std::ranges::sort(sorted, {}, &ClockSample::fromNs);
    std::vector<std::int64_t> differences;
    for (const ClockSample& sample : sorted)
        differences.push_back(sample.toNs - sample.fromNs);
    const ClockFit constant = judgeClock({ leastMedian(differences), 0, 0 }, sorted);
    if (sorted.size() < kFewestForDrift)
        return constant;
    const auto points = stretches(sorted, std::min(kMostStretches, sorted.size() / 4));
    const ClockFit line = judgeClock(lineThrough(points), sorted);
    const double effect = std::abs(line.map.drift) * static_cast<double>(sorted.back().fromNs - sorted.front().fromNs);
    const bool better = line.errorNs * 2 < constant.errorNs && effect >= static_cast<double>(kWorthADrift);
    return better && std::abs(line.map.drift) <= kGreatestDrift ? line : constant;
}

} // namespace rankscope::tracing
