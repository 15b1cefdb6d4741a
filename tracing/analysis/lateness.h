#pragma once

#include "tracing/analysis/ledger/ledger_result.h"
#include "tracing/analysis/run_rows.h"
#include "tracing/analysis/trace_ledger.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// How much a rank makes the others wait, why, and what shows it (METRICS 5.3, cause of a wait).
struct Lateness {
    struct Cause {
        std::string cause; ///< "host", "compute", "before the recording", ...
        std::int64_t ns = 0;
    };

    std::int32_t rank = 0;
    std::int64_t waitNs = 0; ///< waits of the others that lead to it, imbalance included
    std::int64_t waitLowNs = 0; ///< at least, whatever the clocks' error
    std::vector<Cause> causes; ///< sum to waitNs, most first
    std::int64_t causeNs = 0; ///< its own time under the main cause
    std::int64_t peersCauseNs = 0; ///< median of the others' time under it
    /// Its own idle time that belongs to the cost: causeNs where that is out of line with its peers, else 0 (what
    /// everybody loses is no rank's fault). Computing is not idle.
    std::int64_t ownNs = 0;
    std::vector<std::int32_t> waiting; ///< who waits for it
    std::vector<std::int32_t> mistakable; ///< ranks that the clocks cannot tell from it, in some of the waits
    std::int64_t lateCount = 0; ///< instances to which it came last and somebody waited
    std::int64_t count = 0; ///< instances of these operations with at least two parts
    CollectiveOp op = CollectiveOp::Unknown; ///< of those to which it was late; Unknown: several, or not known
    Dimension dimension = Dimension::None; ///< likewise
    Window evidence; ///< longest single wait for it
    std::int64_t delayNs = 0; ///< of that wait's instance: from the first entry to its own
    std::int32_t firstRank = 0; ///< who entered first there
    std::string hostRange; ///< what the host was in during most of causeNs; empty: no range covers it
    std::int64_t hostRangeNs = 0; ///< part of causeNs inside it

    std::int64_t costNs() const { return waitNs + ownNs; }
};

/// Ranks that others wait for, by cost. Counted inside the window; `steps` says which rows of the ledger count.
Result<std::vector<Lateness>> latenessOf(TraceReader& reader, const RunFacts& facts, const LedgerSource& source,
    const ledger::LedgerResult& result, const std::vector<bool>& steps, Window window);

/// The label whose time makes a rank late by that cause; none for those that are no label.
std::optional<ledger::Label> labelOfCause(std::string_view cause);

} // namespace rankscope::tracing
