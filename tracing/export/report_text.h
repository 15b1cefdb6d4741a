#pragma once

#include "tracing/analysis/run_analysis.h"

#include <string>
#include <string_view>

namespace rankscope::tracing {

inline constexpr std::size_t kBriefLines = 20;
inline constexpr std::size_t kBriefColumns = 100;

/// "sample: 2 of 2 ranks, 48 steps (1-48), AMD EPYC, rankscope, clock ±0.004 ms"
std::string runLine(const RunAnalysis& run);

/// The whole report for a terminal: headline, time split, steps, collectives, kernels, findings.
std::string reportText(const RunAnalysis& run);

/// At most kBriefLines lines of kBriefColumns columns, to paste into a message. `path` is what the last line opens.
std::string briefText(const RunAnalysis& run, std::string_view path);

} // namespace rankscope::tracing
