#include "tracing/analysis/diagnosis/evidence.h"

#include <algorithm>
#include <cmath>

namespace rankscope::tracing::diagnosis {

namespace {

/// A long series is looked at in at most so many places: each pair of them is tried.
constexpr std::size_t kMostCuts = 96;

std::vector<std::size_t> cutsOf(std::size_t size)
{
    std::vector<std::size_t> cuts;
    const std::size_t every = std::max<std::size_t>(1, (size + kMostCuts - 1) / kMostCuts);
    for (std::size_t i = 0; i < size; i += every)
        cuts.push_back(i);
    cuts.push_back(size);
    return cuts;
}

} // namespace

std::optional<Stretch> strongestStretch(std::span<const double> evidence, double least)
{
    std::optional<Stretch> best;
    Stretch current;
    for (std::size_t i = 0; i < evidence.size(); ++i) {
        if (current.score <= 0)
            current = { i, i, 0 };
        current.score += evidence[i];
        current.last = i;
        if (current.score >= least && (!best || current.score > best->score))
            best = current;
    }
    return best;
}

std::optional<Stretch> raisedStretch(std::span<const double> values, double times)
{
    std::optional<Stretch> best;
    double bar = 0;
    const std::vector<std::size_t> cuts = cutsOf(values.size());
    for (std::size_t a = 0; a < cuts.size(); ++a) {
        for (std::size_t b = a + 1; b < cuts.size(); ++b) {
            const std::size_t first = cuts[a], end = cuts[b];
            if (end - first < kShortest || values.size() - (end - first) < kShortest)
                continue;
            std::vector<double> outside(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first));
            outside.insert(outside.end(), values.begin() + static_cast<std::ptrdiff_t>(end), values.end());
            const double high = quantile(std::move(outside), 0.75);
            const double low = quantile({ values.begin() + static_cast<std::ptrdiff_t>(first),
                                            values.begin() + static_cast<std::ptrdiff_t>(end) },
                0.1);
            if (low <= times * high || low <= 0)
                continue;
            const double score = std::log(low / std::max(high, 1.0)) * std::sqrt(static_cast<double>(end - first));
            if (!best || score > best->score) {
                best = Stretch{ first, end - 1, score };
                bar = times * high;
            }
        }
    }
    // A tenth of it may lie lower; not at its ends.
    while (best && best->size() > 1 && values[best->first] <= bar)
        ++best->first;
    while (best && best->size() > 1 && values[best->last] <= bar)
        --best->last;
    return best;
}

double quantile(std::vector<double> values, double p)
{
    if (values.empty())
        return 0;
    const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank > 0 ? rank - 1 : 0);
    std::ranges::nth_element(values, at);
    return *at;
}

} // namespace rankscope::tracing::diagnosis
