#include "tracing/analysis/diagnosis/detectors.h"
#include "tracing/analysis/diagnosis/evidence.h"

#include <algorithm>
#include <set>

namespace rankscope::tracing::diagnosis {

namespace {

/// How much longer than before an exchange must take, and how much of a calm step that has to cost.
constexpr double kTimes = 1.5;
constexpr double kWorthSaying = 0.05;
/// Smaller exchanges (losses, norms) say nothing about a link's rate, but everything about how long a rank that is ready
/// takes to get a core on this machine.
constexpr std::int64_t kLeastBytes = 4096;
/// How far above that noise an exchange must be: sender and receiver may each miss a core a few times.
constexpr double kAboveNoise = 3;

double ns(std::int64_t value) { return static_cast<double>(value); }

/// The least flight of each step; of a step without one as the step before, so that places stay in line.
std::vector<double> leastFlights(Steps steps, const Route& route)
{
    std::vector<double> least;
    for (const StepMeasures& step : steps) {
        const auto flight = step.flights.find(route);
        least.push_back(flight != step.flights.end() ? ns(flight->second.leastNs) : least.empty() ? 0 : least.back());
    }
    return least;
}

std::int64_t excessOf(Steps steps, const Route& route, const Stretch& stretch, double usualNs)
{
    double excess = 0;
    for (std::size_t i = stretch.first; i <= stretch.last; ++i) {
        const auto flight = steps[i].flights.find(route);
        if (flight != steps[i].flights.end())
            excess += std::max(0.0, ns(flight->second.sumNs) - ns(flight->second.count) * usualNs);
    }
    return static_cast<std::int64_t>(excess);
}

/// Spread of the small collectives' flights in these steps.
double noiseNs(Steps steps, const Stretch& stretch)
{
    std::vector<double> small;
    for (std::size_t i = stretch.first; i <= stretch.last; ++i) {
        for (const auto& [route, flight] : steps[i].flights) {
            if (route.bytes < kLeastBytes && !isPointToPoint(route.op))
                small.push_back(ns(flight.leastNs));
        }
    }
    return quantile(small, 0.75) - quantile(small, 0.1);
}

std::optional<Diagnosis> slowRoute(Steps steps, const Route& route)
{
    const std::vector<double> least = leastFlights(steps, route);
    const auto stretch = raisedStretch(least, kTimes);
    if (!stretch)
        return std::nullopt;
    std::vector<double> inside(least.begin() + static_cast<std::ptrdiff_t>(stretch->first),
        least.begin() + static_cast<std::ptrdiff_t>(stretch->last) + 1);
    std::vector<double> outside(least.begin(), least.begin() + static_cast<std::ptrdiff_t>(stretch->first));
    outside.insert(outside.end(), least.begin() + static_cast<std::ptrdiff_t>(stretch->last) + 1, least.end());
    const double usual = quantile(std::move(outside), 0.5), now = quantile(std::move(inside), 0.5);
    if (now - usual < std::max(kWorthSaying * calmStepNs(steps), kAboveNoise * noiseNs(steps, *stretch)))
        return std::nullopt;
    Diagnosis diagnosis;
    diagnosis.trouble = Trouble::SlowLink;
    diagnosis.ranks = route.ranks;
    diagnosis.firstStep = steps[stretch->first].step;
    diagnosis.lastStep = steps[stretch->last].step;
    diagnosis.lasts = stretch->last + 1 == steps.size();
    diagnosis.window = { steps[stretch->first].window.beginNs, steps[stretch->last].window.endNs };
    diagnosis.times = now / std::max(usual, 1.0);
    diagnosis.excessNs = excessOf(steps, route, *stretch, usual);
    return diagnosis;
}

} // namespace

std::vector<Diagnosis> slowLinks(Steps steps)
{
    std::set<Route> routes;
    for (const StepMeasures& step : steps) {
        for (const auto& [route, flight] : step.flights) {
            if (route.bytes >= kLeastBytes)
                routes.insert(route);
        }
    }
    std::vector<Diagnosis> found;
    for (const Route& route : routes) {
        auto diagnosis = slowRoute(steps, route);
        if (!diagnosis)
            continue;
        const auto same = std::ranges::find(found, diagnosis->ranks, &Diagnosis::ranks);
        if (same == found.end())
            found.push_back(std::move(*diagnosis));
        else if (diagnosis->excessNs > same->excessNs)
            *same = std::move(*diagnosis);
    }
    return found;
}

} // namespace rankscope::tracing::diagnosis
