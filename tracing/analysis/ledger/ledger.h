#pragma once

#include "tracing/analysis/ledger/ledger_result.h"

namespace rankscope::tracing::ledger {

/// The waste ledger of METRICS 5.3 and 5.4: every ns of every rank's stretches falls into exactly one leaf.
/// Pure: same input, same result. For each rank and step the rows sum to its window, also at both ends of the clock's
/// error.
LedgerResult computeLedger(const LedgerInput& input);

/// ETTR from the times.
void setShares(Goodput& goodput);

/// Bumped whenever the same input may give another result: results are kept in the file under it.
inline constexpr int kLedgerVersion = 7;

} // namespace rankscope::tracing::ledger
