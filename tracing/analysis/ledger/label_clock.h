#pragma once

#include "tracing/analysis/ledger/compute_share.h"
#include "tracing/analysis/ledger/ledger_result.h"

#include <array>

namespace rankscope::tracing::ledger {

/// Time by label, with descheduled apart from compute.
using LabelTimes = std::array<Ns, kLabelCount>;

/// Answers "how long was this rank in each label between t0 and t1" (T_q^c of METRICS 5.3) from its segments, bubbles
/// not yet relabelled. Time outside the stretches counts as NotRecorded.
class LabelClock {
public:
    LabelClock(const std::vector<Segment>& segments, const ComputeShare& share);

    LabelTimes between(Ns from, Ns to) const;
    /// First segment that ends after t.
    std::size_t firstAfter(Ns t) const;
    const std::vector<Segment>& segments() const { return segments_; }

private:
    void add(const Segment& segment, Ns from, Ns to, LabelTimes& times) const;

    // A running sum every so many segments keeps the memory far below the segments' own.
    static constexpr std::size_t kStride = 64;
    const std::vector<Segment>& segments_;
    const ComputeShare& share_;
    std::vector<LabelTimes> sums_; ///< before segment i * kStride
};

} // namespace rankscope::tracing::ledger
