#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::diagnosis_score {

/// A run to be made: what differs from the base configuration, faults included.
struct Case {
    std::string name; ///< "slow_rank on dp 2", "clean pp 2"
    std::vector<std::string> settings; ///< key=value
};

/// The same seed draws the same cases. Every kind comes in turn, on a layout, rank, step and strength by chance; each
/// sixth one is misleading: two faults at once, a victim that looks like the culprit, a fault that stops.
std::vector<Case> drawFaults(std::size_t count, std::uint64_t seed);
std::vector<Case> drawClean(std::size_t count, std::uint64_t seed);

/// The small model that all of them train, as TOML.
std::string baseConfiguration();

} // namespace rankscope::diagnosis_score
