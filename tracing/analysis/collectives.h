#pragma once

#include "tracing/analysis/run_rows.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rankscope::tracing {

/// GB/s (1e9 bytes a second) of the whole buffer; 0 for no time.
double algorithmBandwidthGBps(std::int64_t bytes, std::int64_t ns);

/// Bus bandwidth in GB/s: what one rank's link carried, comparable to its peak for any number of ranks.
/// `bytes` is the whole buffer; for all-gather and reduce-scatter the one that spans all ranks. 0 for a single rank.
/// Factors: nccl-tests, doc/PERFORMANCE.md (METRICS 4.1).
double busBandwidthGBps(CollectiveOp op, std::int64_t bytes, std::int64_t ns, int ranks);

/// All instances of one operation in one dimension. Wire time only counts for bandwidths: from the last entry to the
/// last exit of each instance; with own durations waiting would look like a slow network.
struct CollectiveRow {
    CollectiveOp op = CollectiveOp::Unknown; ///< a send with its receive is one instance of Send
    Dimension dimension = Dimension::None;
    std::int64_t count = 0; ///< instances
    std::int64_t bytes = 0; ///< sum over instances of the whole buffer
    std::int64_t waitNs = 0; ///< sum over the ranks' parts
    std::int64_t transferNs = 0;
    std::int64_t unsplitNs = 0;
    std::int64_t wireNs = 0; ///< sum over instances of last exit - last entry
    double algbwGBps = 0;
    double busbwGBps = 0;
    std::optional<std::int32_t> lateRank; ///< the rank that the others waited for longest
    std::int64_t lateCount = 0; ///< instances in which it came last
    std::int64_t waitForLateNs = 0; ///< the others' wait in these
};

/// Instances that touch the window, by total time (wait, transfer and unsplit) falling.
std::vector<CollectiveRow> collectiveTable(
    std::span<const SplitPart> parts, std::span<const CollectiveMatch> matches, Window window);

} // namespace rankscope::tracing
