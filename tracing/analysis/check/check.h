#pragma once

#include "tracing/analysis/check/rules.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// How one rule came out.
struct CheckedRule {
    Rule rule;
    std::optional<double> value; ///< none: the run does not tell it, which breaks the rule too
    bool isKept = false;
    std::string note; ///< why there is no value, or when a held-out set was looked at
};

struct CheckResult {
    /// Whether the run was started with these thresholds: a threshold chosen afterwards confirms nothing.
    enum class Registration { Before, Changed, None };
    Registration registration = Registration::None;
    std::string run; ///< its name
    std::string registeredHash; ///< empty: none
    std::string hash; ///< of the rules now
    std::vector<CheckedRule> rules;

    /// All rules are kept, and they are not others than those the run was started with.
    bool isGood() const;
};

/// Held-out rules are evaluated the first time; the answer is kept in the run file and given again, also to rules that
/// have changed since (METRICS R13: a held-out set is looked at once).
/// A rule that is about other runs is left out.
Result<CheckResult> checkRun(TraceReader& reader, const Rules& rules);

/// The runs that rules name and that are not among these results, with those rules broken: a set of runs confirms as a
/// whole, not as far as somebody chose to show it.
std::vector<CheckResult> missingRuns(const std::vector<CheckResult>& results, const Rules& rules);

} // namespace rankscope::tracing
