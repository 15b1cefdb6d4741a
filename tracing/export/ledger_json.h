#pragma once

#include "tracing/analysis/run_ledger.h"

#include <string>

namespace rankscope::tracing {

/// What rows of a ledger are told apart by; the others are summed.
struct LedgerGrouping {
    bool rank = false;
    bool step = false;
    bool leaf = false;
};

/// Rows that agree in what the grouping keeps apart, summed, in their first one's place; culprit and cause stay apart
/// with the leaf. Members that are summed over are 0, or -1 for steps.
std::vector<ledger::LedgerRow> grouped(const RunLedger& run, LedgerGrouping by);

/// The ledger with the keys that scripts rely on ("schema": 1). Times are integer ns.
std::string ledgerJson(const RunLedger& run, LedgerGrouping by);

} // namespace rankscope::tracing
