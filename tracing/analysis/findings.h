#pragma once

#include "tracing/analysis/collectives.h"
#include "tracing/analysis/step_series.h"
#include "tracing/analysis/time_split.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

struct RunAnalysis;

enum class Severity { Info, Notice, Warning };
std::string_view toString(Severity severity); ///< "info", "notice", "warning"

/// One statement in plain words with its evidence. LOOK, section 4.
struct Finding {
    Severity severity = Severity::Info;
    std::string title; ///< "Rank 2 is late to every all-to-all"
    std::string text; ///< the figures behind it
    std::vector<std::int32_t> ranks; ///< who is to blame, else whom it hits
    Window evidence; ///< where to look
    std::string action; ///< what to try; empty: nothing to do
    std::string gain; ///< what that would give by replay; empty: not known
    std::string certainty; ///< "certain", or how the clocks' error stands against it
    std::string cause; ///< what goes wrong in one place: a word of diagnosis::Trouble or "rank_lost", "rank_hung",
                       ///< "not_a_number", "checkpoint_failed", "checkpoint_damaged"; empty: nobody is to blame
    std::optional<std::int32_t> stage; ///< that it concerns as a whole
    std::optional<double> costShare; ///< 0 to 1 of the denominator that the headline names; none: not a cost
};

/// What costs most first; what is not the problem last. Never empty: without a finding it says so.
std::vector<Finding> findings(const RunAnalysis& run);

} // namespace rankscope::tracing
