#pragma once

#include "tracing/analysis/ledger/ledger_result.h"
#include "tracing/analysis/run_rows.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// A line of the ledger: a leaf, of it what one rank or one cause is to blame for.
struct LeafChoice {
    ledger::LeafKey leaf;
    std::optional<std::int32_t> rank{}; ///< only this rank's own time
    std::optional<std::int32_t> culprit{}; ///< with `cause`: only waits blamed on them
    std::string cause{}; ///< empty: all

    bool operator==(const LeafChoice&) const = default;
};

/// By rank; disjoint, by begin.
using LeafStretches = std::map<std::int32_t, std::vector<Window>>;

/// Where a line's time lies. Leaves that share the time of one kernel (useful, below the roofline, ...) all have the
/// kernel's whole stretch: their shares are amounts, not places.
LeafStretches leafStretches(
    const ledger::LedgerInput& input, const ledger::LedgerResult& result, const LeafChoice& choice);

/// The same for a run file. Counts the ledger anew: its stretches are too many to be kept.
Result<LeafStretches> readLeafStretches(TraceReader& reader, const RunFacts& facts, const LeafChoice& choice);

} // namespace rankscope::tracing
