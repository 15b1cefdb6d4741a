#pragma once

#include "tracing/analysis/ledger/compute_share.h"
#include "tracing/analysis/ledger/ledger_result.h"

#include <map>
#include <memory>
#include <tuple>

namespace rankscope::tracing::ledger {

/// ns by (rank index, step index, leaf).
using LeafTable = std::map<std::tuple<std::size_t, std::int32_t, LeafKey>, Ns>;

/// The leaf of a segment; Compute where Level 2 would have to divide it.
LeafKey leafOf(const LedgerInput& input, const LedgerResult& result, std::size_t rank, const Segment& segment);

/// Sums the segments, with compute split by Level 2.
LeafTable leavesOf(
    const LedgerInput& input, const LedgerResult& result, const std::vector<std::unique_ptr<ComputeShare>>& shares);

/// Fills result.rows and result.totals: leaves with their range over the three views, waits and imbalance by cause.
void writeRows(const LedgerInput& input, LedgerResult& result, const LeafTable& measured, const LeafTable& low,
    const LeafTable& high);

} // namespace rankscope::tracing::ledger
