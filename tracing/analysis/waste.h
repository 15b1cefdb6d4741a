#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::tracing {

struct Lateness;
struct RunAnalysis;

/// One way in which the ranks' time is lost, as headline and findings name it.
struct Waste {
    enum class Kind {
        LateRank,
        Wait,
        Bubble,
        Transfer,
        Unsplit,
        Copy,
        Data,
        Checkpoint,
        Descheduled,
        Host,
        Gaps,
        Lost,
        Idle,
    };
    Kind kind = Kind::Idle;
    std::int64_t ns = 0; ///< over all ranks
    const Lateness* late = nullptr; ///< of LateRank
};

/// All that cost anything, most first. A rank that makes others wait costs its own idle time and all those waits; what
/// is left of each leaf stands for itself. Together with compute, start and planned work they are the whole
/// denominator.
std::vector<Waste> wastesOf(const RunAnalysis& run);

/// What a late rank does all that time, such as "its host launches nothing for 1.01 s in each of 3 steps
/// (# running sparse arch)"; empty where nothing can be said.
std::string causeText(const RunAnalysis& run, const Lateness& late);

/// What fixing the rank's main cause would give, by replay: "a step would take 112 ms instead of 1.10 s"; empty where
/// it is not known or gives nothing.
std::string gainText(const RunAnalysis& run, const Lateness& late);

} // namespace rankscope::tracing
