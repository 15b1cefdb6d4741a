#pragma once

#include "tracing/import/collective_matcher.h"

#include <span>
#include <string>
#include <vector>

namespace rankscope::tracing {

struct Alignment {
    bool aligned = false; ///< false: times stay as the files have them
    std::int64_t anchors = 0; ///< collectives that were used
    std::int64_t greatestShiftNs = 0;
    double greatestDrift = 0;
    std::int64_t errorNs = 0; ///< greatest of the ranks'
    std::string note; ///< one sentence for people
};

/// Puts the ranks on one clock: members of a synchronising collective leave it together, so the differences of their
/// ends are the clocks' differences (see fitClock; clocks without a common collective by way of others). Sets
/// SourceTrace::clock*. Ranks of one node share a clock and move together. Where what is left is larger than half the
/// median transfer and more than a millisecond, nothing is moved and the note says so: a plausible-looking wrong merge
/// is worse than none.
Alignment alignClocks(std::span<SourceTrace> traces, const MatchResult& matches);

} // namespace rankscope::tracing
