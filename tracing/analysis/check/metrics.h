#pragma once

#include "tracing/analysis/run_analysis.h"
#include "tracing/analysis/run_ledger.h"

#include <optional>
#include <string>
#include <string_view>

namespace rankscope::tracing {

/// What rules can be about, one a line: name and meaning.
std::string metricHelp();
bool isMetric(std::string_view name);

/// The metric's value; none where the run does not tell it. `ledger` has the steps that count.
std::optional<double> metricOf(std::string_view name, const RunAnalysis& run, const RunLedger& ledger);

} // namespace rankscope::tracing
