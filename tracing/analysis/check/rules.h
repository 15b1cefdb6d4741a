#pragma once

#include "tracing/analysis/diagnosis/live_watch.h"
#include "tracing/analysis/step_series.h"
#include "tracing/model/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// A threshold for a finished run.
struct Rule {
    std::string name;
    std::string metric; ///< one of metricHelp()'s
    std::optional<double> atMost;
    std::optional<double> atLeast;
    std::optional<StepRange> steps; ///< none: those that count when nobody asks
    std::vector<std::string> runs; ///< by name, that it is about; empty: whichever is checked
    bool heldOut = false; ///< looked at once

    bool isAbout(std::string_view run) const;
    std::string owner; ///< who is told
};

/// Where a run file keeps the rules that it was started with: the file's text and its SHA-256.
inline constexpr std::string_view kRulesKey = "rules.text";
inline constexpr std::string_view kRulesHashKey = "rules.sha256";

struct Rules {
    std::string text; ///< of the file
    std::string hash; ///< of the text
    std::string owner; ///< of rules that name none
    std::vector<Rule> rules;
    std::vector<diagnosis::DetectorRule> detectors; ///< for while the run goes on
};

/// TOML: `owner` and one [[rule]] a threshold with name, metric, at_most or at_least or both, and optionally steps
/// ("A:B"), runs (a list of names), held_out (one of these two is) and owner; one [[detector]] with kind
/// (diagnosis::detectorKinds()) and optionally threshold, steps, owner and action. An unknown key or metric is refused
/// in one line that names it.
Result<Rules> parseRules(const std::string& text);
Result<Rules> readRules(const std::string& path);

} // namespace rankscope::tracing
