#include "tracing/collector/row_batch.h"

#include <algorithm>
#include <span>

namespace rankscope::tracing {

namespace {

std::int64_t timeOf(const CounterSample& row) { return row.timeNs; }
template <typename Row> std::int64_t timeOf(const Row& row) { return row.beginNs; }

template <typename Row> Status append(TraceWriter& writer, LaneId lane, std::vector<Row>& rows)
{
    if (rows.empty())
        return Done{};
    // Spans arrive in the order of their ends: what nests or overlaps is out of order.
    const auto earlier = [](const Row& a, const Row& b) { return timeOf(a) < timeOf(b); };
    if (!std::is_sorted(rows.begin(), rows.end(), earlier))
        std::stable_sort(rows.begin(), rows.end(), earlier);
    const Status done = writer.append(lane, std::span<const Row>(rows));
    rows.clear();
    return done;
}

} // namespace

Status RowBatch::flush(TraceWriter& writer)
{
    for (auto& [lane, rows] : lanes_) {
        for (const Status& done : { append(writer, lane, rows.kernels), append(writer, lane, rows.collectives),
                 append(writer, lane, rows.bubbles), append(writer, lane, rows.ranges),
                 append(writer, lane, rows.counters) }) {
            if (!done)
                return done;
        }
    }
    return Done{};
}

} // namespace rankscope::tracing
