#pragma once

#include "tests/whatif/pairs.h"
#include "tracing/model/result.h"

#include <filesystem>
#include <vector>

namespace rankscope::whatif {

/// Trains with these settings and writes `file`; a file that is there already is taken as it is. The median of the
/// counted steps, in ns.
tracing::Result<double> trainedStepNs(const std::vector<std::string>& settings, const std::filesystem::path& file);

/// What rankscope what-if makes of the run: its predicted step over its recorded one.
tracing::Result<double> predictedRatio(const std::filesystem::path& file, const std::vector<std::string>& changes);

/// Whether rankscope-train would take these settings; an error says what it minds.
tracing::Status planned(const std::vector<std::string>& settings);

/// A pair that was trained some times over, base and changed in turn.
struct Measured {
    double baseNs = 0, changedNs = 0, predictedNs = 0; ///< medians over the repetitions
    double noise = 0; ///< half the spread of the base runs, as a share of their median

    double error() const { return predictedNs / changedNs - 1; }
};
tracing::Result<Measured> measure(const Pair& pair, std::size_t repeats, const std::filesystem::path& folder);

/// Of an even number the mean of the two in the middle; 0 of none.
double median(std::vector<double> values);

} // namespace rankscope::whatif
