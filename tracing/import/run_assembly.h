#pragma once

#include "tracing/import/clock_alignment.h"
#include "tracing/import/collective_matcher.h"
#include "tracing/import/source_trace.h"
#include "tracing/store/trace_writer.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rankscope::tracing {

struct AssemblyReport {
    std::int64_t events = 0;
    std::int64_t parts = 0;
    std::int32_t ranks = 0;
    std::int32_t worldSize = 0;
    Alignment alignment;
};

/// The rows of table collective_match: who came last, and when everybody was there and gone, on the run's clock.
std::vector<CollectiveMatch> matchRowsOf(std::span<const SourceTrace> traces, const MatchResult& matches,
    std::span<const CommunicatorId> communicators, std::int64_t originNs);

/// Writes matched and aligned traces as one run: time 0 is the first event of any rank. One rank a trace.
Result<AssemblyReport> writeRun(std::span<SourceTrace> traces, const MatchResult& matches, const Alignment& alignment,
    const std::string& name, TraceWriter& writer);

} // namespace rankscope::tracing
