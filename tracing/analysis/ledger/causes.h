#pragma once

#include "tracing/analysis/ledger/collective_split.h"
#include "tracing/analysis/ledger/label_clock.h"
#include "tracing/analysis/ledger/ledger_result.h"

#include <memory>

namespace rankscope::tracing::ledger {

/// Blames every exposed wait by delay cost (METRICS 5.3, "Cause of a wait"): appends result.waits, in the order of
/// instances. Segments must be level 0 and 1, bubbles not yet relabelled.
void findCauses(const LedgerInput& input, const InstanceIndex& index,
    const std::vector<std::unique_ptr<LabelClock>>& clocks, const std::vector<std::unique_ptr<ComputeShare>>& shares,
    LedgerResult& result);

/// The word of METRICS for a label as a cause; "network" for transfer.
const char* causeWord(Label label);

/// Adds a row, merging with one of the same culprit and cause.
void addRow(std::vector<CauseRow>& rows, const CauseRow& row);

/// Takes ns out of the rows by largest remainder and returns what was taken, rows in the same order.
std::vector<CauseRow> takeShare(std::vector<CauseRow>& rows, Ns ns);

} // namespace rankscope::tracing::ledger
