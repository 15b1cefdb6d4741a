#pragma once

#include "tracing/analysis/run_ledger.h"
#include "tracing/export/ledger_json.h"

#include <string>

namespace rankscope::tracing {

/// The ledger for a terminal: a line a leaf, unattributed first, waits with their culprits and causes, what fixing it
/// would give, and the exact sum. By rank or step: a line for each, with the costliest leaves as columns.
std::string ledgerText(const RunLedger& run, LedgerGrouping by, std::optional<StepRange> steps = {});

} // namespace rankscope::tracing
