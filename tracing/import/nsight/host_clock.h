#pragma once

#include "tracing/import/source_trace.h"

#include <span>

namespace rankscope::tracing {

/// Reports of one host lie on the axis of its system clock, which nobody sets while it runs: their distance is that of
/// their sessions' system times, not of their wall-clock times. Where the two differ by more than an hour the host was
/// started anew in between, and the wall clock counts. Sets SourceTrace::baseNs.
void alignReportsOfHosts(std::span<SourceTrace> traces);

} // namespace rankscope::tracing
