#pragma once

#include "app/timeline/core/records.h"
#include "app/timeline/core/run_facts.h"
#include "tracing/analysis/run_rows.h"

namespace rankscope::app::timeline {

// Rows of the store as spans.
SpanRecord spanOf(const tracing::Kernel& row, const RunFacts& facts);
SpanRecord spanOf(const tracing::Copy& row);
SpanRecord spanOf(const tracing::HostCall& row);
SpanRecord spanOf(const tracing::Bubble& row);
SpanRecord spanOf(const tracing::Range& row);
/// Wait and transfer as the analyses split them; communication that cannot be split where they do not. match: where
/// known.
SpanRecord spanOf(
    const tracing::CollectivePart& row, const tracing::SplitPart& split, const tracing::CollectiveMatch* match);

} // namespace rankscope::app::timeline
