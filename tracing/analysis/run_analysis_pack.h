#pragma once

#include "tracing/analysis/run_analysis.h"

#include <string>
#include <string_view>

namespace rankscope::tracing {

// The form in which what analyse() counted from rows is kept in a run file: figures, no sentences, which are made anew.
// What is read from the file's small tables (facts, steps, series) is not in it.

inline constexpr int kAnalysisVersion = 2; ///< rises when what is counted, or this form, changes

std::string packedFigures(const RunAnalysis& run);
/// Into a run whose facts, window and steps are there; false: the text is no such result.
bool unpackFigures(std::string_view text, RunAnalysis& run);

} // namespace rankscope::tracing
