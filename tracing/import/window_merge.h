#pragma once

#include "tracing/import/source_trace.h"
#include "tracing/model/rows.h"

#include <optional>
#include <vector>

namespace rankscope::tracing {

/// First begin to last begin of what a trace holds within its bounds, on UTC or the clock that its base makes it; none:
/// it holds nothing. After findTimeBounds().
std::optional<Window> extentOf(const SourceTrace& trace);

/// Makes one trace of several of one rank that were recorded one after another (profiling cycles): the first one's
/// clock, all lanes, groups and parts. What a window has outside its own bounds is left out and counted.
SourceTrace mergeWindows(std::vector<SourceTrace> windows);

} // namespace rankscope::tracing
