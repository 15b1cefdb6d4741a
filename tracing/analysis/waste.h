#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::tracing {

struct RunAnalysis;

/// One way in which the ranks' time is lost, as headline and findings name it.
struct Waste {
    enum class Kind { WaitForRank, Wait, Bubble, Transfer, Unsplit, Copy, Data, Checkpoint, Descheduled, Gaps, Idle };
    Kind kind = Kind::Idle;
    std::int64_t ns = 0; ///< over all ranks
    std::optional<std::int32_t> rank{}; ///< of WaitForRank
};

/// All that cost anything, most first. Together with compute, start and planned work they are the whole denominator.
std::vector<Waste> wastesOf(const RunAnalysis& run);

/// Why a rank comes late: what it spends more time on than the others do on average, such as "it computes 1.31 times as
/// long as the others (45.2 ms more in each step)"; empty where nothing stands out.
std::string causeOfLateness(const RunAnalysis& run, std::int32_t rank);

} // namespace rankscope::tracing
