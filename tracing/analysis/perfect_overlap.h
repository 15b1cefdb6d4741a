#pragma once

#include "tracing/analysis/ledger/ledger_result.h"
#include "tracing/model/rows.h"

#include <cstdint>
#include <span>

namespace rankscope::tracing {

/// What these stretches (none: the whole run) take at least once exchanges go on beside everything else: the transfers
/// of the rank that has most of them. A gradient's sum over replicas cannot begin before the last backward pass of a
/// step does, which adds to it: where kernels say their pass, that time, the sums, and what follows them.
std::int64_t leastOverlappedNs(
    const ledger::LedgerInput& input, const ledger::LedgerResult& recorded, std::span<const Window> stretches);

} // namespace rankscope::tracing
