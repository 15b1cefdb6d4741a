#pragma once

#include "tracing/analysis/ledger/ledger_input.h"
#include "tracing/model/rows.h"

#include <span>

namespace rankscope::tracing {

/// A CPU rank without a core does not only lose time inside kernels: it is preempted between them too. What a forward,
/// backward or optimizer range lost (wall less CPU time) beyond its kernels' own loss and its communication is put at
/// the begin of the gaps inside it, in proportion to their lengths, as operations that never had a core: the ledger
/// books them as descheduled, the rest of the gap stays the host's.
void addOffCoreGaps(ledger::RankInput& rank, std::span<const Range> ranges);

} // namespace rankscope::tracing
