#pragma once

#include "tracing/model/rows.h"
#include "tracing/store/trace_writer.h"

#include <map>
#include <vector>

namespace rankscope::tracing {

/// Rows of one lane between two commits.
struct LaneRows {
    std::vector<Kernel> kernels;
    std::vector<CollectivePart> collectives;
    std::vector<Bubble> bubbles;
    std::vector<Range> ranges;
    std::vector<CounterSample> counters;
};

/// Rows of all lanes between two commits. References to a lane's rows stay valid.
class RowBatch {
public:
    LaneRows& of(LaneId lane) { return lanes_[lane]; }
    /// Appends everything, ordered by begin, and is empty afterwards.
    Status flush(TraceWriter& writer);

private:
    std::map<LaneId, LaneRows> lanes_;
};

} // namespace rankscope::tracing
