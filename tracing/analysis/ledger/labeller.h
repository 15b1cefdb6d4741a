#pragma once

#include "tracing/analysis/ledger/ledger_result.h"
#include "tracing/analysis/ledger/lifecycle.h"

namespace rankscope::tracing::ledger {

/// Which wait of each part to use: at the low end of the clock's error, as measured, at the high end.
enum class ClockView : std::uint8_t { Low, Measured, High };

/// Levels 0 and 1 of METRICS 5.3 for one rank: every ns of its stretches gets one label. Adjacent segments differ in
/// label, part, step or excess, or are cut by a stretch.
std::vector<Segment> labelRank(const LedgerInput& input, std::size_t rankIndex, const std::vector<SplitPart>& parts,
    const std::vector<LifecycleSpan>& lifecycle, ClockView view);

/// Time in which the rank computes and communicates at once.
Ns overlapOf(const RankInput& rank, const std::vector<SplitPart>& parts);

} // namespace rankscope::tracing::ledger
