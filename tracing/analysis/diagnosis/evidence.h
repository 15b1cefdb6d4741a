#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace rankscope::tracing::diagnosis {

/// Steps first to last of a series, both included.
struct Stretch {
    std::size_t first = 0;
    std::size_t last = 0;
    double score = 0;

    std::size_t size() const { return last - first + 1; }
};

/// The stretch with the greatest sum, where that is at least `least`. A step's evidence is positive where it speaks for
/// a fault, negative where against it, and bounded, so that no single step decides. The offline form of a CUSUM chart
/// (Page 1954): it finds a fault that begins and ends anywhere.
std::optional<Stretch> strongestStretch(std::span<const double> evidence, double least);

/// Where the values jump up and stay there: the stretch of at least kShortest steps whose lower decile is most above
/// `times` the upper quartile of all others, of which there must be as many.
inline constexpr std::size_t kShortest = 8;
std::optional<Stretch> raisedStretch(std::span<const double> values, double times);

/// The value that a share `p` of them does not exceed, nearest rank; 0 for none.
double quantile(std::vector<double> values, double p);

} // namespace rankscope::tracing::diagnosis
