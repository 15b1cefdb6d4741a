#pragma once

#include "tracing/analysis/run_rows.h"
#include "tracing/analysis/step_series.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <cstdint>
#include <vector>

namespace rankscope::tracing {

// The only place where the analyses meet the store; everything behind works on plain rows.

Result<RunFacts> loadFacts(TraceReader& reader);
/// All but the steps, whose rows grow with the run.
Result<RunFacts> loadFactsWithoutSteps(TraceReader& reader);

/// All ranks' parts that touch the window, split, ordered by begin. Matches that touch it come along.
struct Communication {
    std::vector<SplitPart> parts;
    std::vector<CollectiveMatch> matches;
};
Result<Communication> loadCommunication(TraceReader& reader, const RunFacts& facts, Window window);

/// One rank's rows that touch the window; its parts are taken from `communication`. Host ranges are most of an imported
/// file: Without leaves them and the bubbles out.
enum class HostRows : std::uint8_t { With, Without };
Result<RankRows> loadRank(TraceReader& reader, const RunFacts& facts, const Communication& communication,
    std::int32_t rank, Window window, HostRows hostRows = HostRows::With);

/// All counters over the whole run.
Result<std::vector<Series>> loadSeries(TraceReader& reader, const RunFacts& facts);

} // namespace rankscope::tracing
