#pragma once

#include "tracing/model/rows.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace rankscope::app::timeline {

/// What stands out on the canvas; all else is drawn at 35 %.
struct Emphasis {
    std::set<std::int32_t> ranks{}; ///< empty: all
    bool onlyStretches = false; ///< of those ranks the stretches below alone
    std::map<std::int32_t, std::vector<tracing::Window>> stretches{}; ///< by rank; disjoint, by begin

    bool empty() const { return ranks.empty() && !onlyStretches; }
};

/// The parts of `visible` that stand back for a rank, by begin. Gaps and stretches narrower than `leastNs` are joined
/// to what is beside them (a stretch is never lost), so that the answer is no longer than the canvas is wide.
std::vector<tracing::Window> dimmedParts(
    const Emphasis& emphasis, std::int32_t rank, tracing::Window visible, std::int64_t leastNs);

} // namespace rankscope::app::timeline
