#pragma once

#include "tracing/analysis/run_rows.h"
#include "tracing/analysis/step_series.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace rankscope::tracing {

/// The steps of a run that we record, as they come in: what was read once is not read again.
class LiveSteps {
public:
    /// Reads what ranks have ended since the last call. Gives the index of the first step that now is another one than
    /// before (its begin, its end where the next one begins, its place); without such a step how many there were.
    Result<std::size_t> read(TraceReader& reader, const RunFacts& facts);

    /// By attempt, then number. Windows do not tile: from the first rank's begin to the last one's end.
    const std::vector<StepSpan>& steps() const { return steps_; }
    std::int64_t lastEndNs() const { return lastEndNs_; }

    /// Steps after whose end every rank has ended one of its own: the collector writes a step after the rows in it, so
    /// all that ended before is in the file. Ranks that say nothing any more do not count.
    std::size_t settled() const { return settled_; }

private:
    using Place = std::pair<std::int32_t, std::int64_t>; ///< attempt, step

    std::size_t add(const Step& row);
    Status readRank(TraceReader& reader, std::int32_t rank, std::int32_t attempts, std::size_t& changed);
    Status settle(TraceReader& reader, const RunFacts& facts);
    std::vector<StepSpan>::iterator find(const Place& place);

    std::vector<StepSpan> steps_;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> last_; ///< by rank and attempt
    std::int64_t lastEndNs_ = INT64_MIN;
    std::size_t settled_ = 0;
};

} // namespace rankscope::tracing
