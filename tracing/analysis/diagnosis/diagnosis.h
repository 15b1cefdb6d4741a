#pragma once

#include "tracing/analysis/diagnosis/step_measures.h"
#include "tracing/model/rows.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing::diagnosis {

/// What goes wrong on one rank, stage or link and not everywhere.
enum class Trouble : std::uint8_t {
    SlowCompute, ///< the same kernels take longer than on its peers
    MoreWork, ///< it computes more than before
    Stall, ///< it sleeps inside kernels though a core was free
    Pause, ///< it sleeps, or does something unrecorded, between kernels
    Data, ///< it waits for data
    SlowLink, ///< messages between two ranks take longer than before
};
/// "compute_speed", "compute_amount", "stall", "host", "data", "network": as the ledger names causes, where it does.
std::string_view toString(Trouble trouble);

struct Diagnosis {
    Trouble trouble{};
    std::vector<std::int32_t> ranks; ///< SlowLink: the two ends
    std::optional<std::int32_t> stage; ///< MoreWork: where a whole stage has more
    std::int64_t firstStep = 0; ///< as far as the steps tell
    std::int64_t lastStep = 0;
    bool lasts = false; ///< to the last step that is known
    Window window; ///< of those steps
    double times = 1; ///< SlowCompute, MoreWork, SlowLink: how much longer than its peers or than before
    std::int64_t excessNs = 0; ///< time of the culprit's own that it costs in those steps
};

/// What the steps, in order, tell, greatest cost first. `stages`: of each rank, by rank; empty without a pipeline. A
/// fault shows as a stretch of steps in which a rank's own measure is out of line with its peers' or with its own other
/// steps. Waits are no measure here: who waits for a slow rank is not slow.
std::vector<Diagnosis> diagnose(std::span<const StepMeasures> steps, std::span<const std::int32_t> stages);

} // namespace rankscope::tracing::diagnosis
