#pragma once

#include "app/timeline/core/records.h"
#include "app/timeline/core/run_facts.h"

#include <unordered_map>

namespace rankscope::app::timeline {

using Matches = std::unordered_map<std::int64_t, tracing::CollectiveMatch>; ///< by raw(instance)

// Rows of the store as spans.
SpanRecord spanOf(const tracing::Kernel& row, const RunFacts& facts);
SpanRecord spanOf(const tracing::Copy& row);
SpanRecord spanOf(const tracing::HostCall& row);
SpanRecord spanOf(const tracing::Bubble& row);
SpanRecord spanOf(const tracing::Range& row);
/// Split at the last entry where the match is complete: wait = [begin, min(E, end)), the rest is transfer. Else it is
/// communication that cannot be split.
SpanRecord spanOf(const tracing::CollectivePart& row, const Matches& matches);

} // namespace rankscope::app::timeline
