#pragma once

#include "tracing/analysis/run_ledger.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace rankscope::tracing {

/// One stretch of a rank's time under the one label that the ledger gave it.
struct LabelledInterval {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::optional<std::int32_t> awaitedRank; ///< of waits and bubbles: whom it waits for
    SpanClass label = SpanClass::Unattributed;
    BubblePhase phase = BubblePhase::Fill; ///< of Bubble
    bool communicationHidden = false; ///< of compute: a collective goes on under it

    std::int64_t durationNs() const { return endNs - beginNs; }
    bool operator==(const LabelledInterval&) const = default;
};

/// The ledger as it is drawn: the stretches of each rank, disjoint and by begin. What a stretch of compute lost without
/// a core stands at its end as Descheduled: how much is known, but not when. Time between the stretches was not
/// recorded.
struct LedgerLanes {
    Window covers; ///< what was in the file when it was counted
    std::map<std::int32_t, std::vector<LabelledInterval>> ranks;
};
LedgerLanes ledgerLanes(const LedgerRun& run, Window covers);

/// How a label of the ledger is drawn.
SpanClass spanClassOf(ledger::Label label);

} // namespace rankscope::tracing
