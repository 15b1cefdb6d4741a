#pragma once

#include "tracing/model/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// What the launcher has to know of a configuration, as `rankscope-train --plan ... --json` says it.
struct RunPlan {
    bool ok = false;
    std::vector<std::string> errors; ///< one line each: key and allowed values
    std::vector<std::string> warnings; ///< such as a device that is not there
    int ranks = 0;
    int threads = 1; ///< of each rank
    std::int64_t steps = 0; ///< 0: not told
    int restarts = 0; ///< how often failed ranks are started again
    double hangSeconds = 0; ///< without progress; 0: never
    /// A layout that a restart may go on with.
    struct Smaller {
        int ranks = 0;
        int dp = 0;
        std::vector<std::string> overrides; ///< "parallel.dp=1"
    };
    std::vector<Smaller> smaller; ///< the largest first
};

/// An error where the text is not such a plan.
Result<RunPlan> parsePlan(std::string_view json);

} // namespace rankscope::tracing
