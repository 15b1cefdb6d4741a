#pragma once

#include "app/session/palette.h"
#include "tracing/analysis/time_split.h"

#include <QString>

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::app {

/// One part of a stacked bar. Its texts run from the longest to the shortest; the bar shows the longest that fits.
struct BarSegment {
    Leaf leaf = Leaf::Unattributed;
    std::int64_t ns = 0;
    std::vector<QString> labels;
    QString tip;
};

/// Pixel column where each segment ends; the last is `width`, so that the bar is always full. A segment that is not
/// empty gets at least kLeastSegmentPx where the bar has room for that, taken from the widest.
inline constexpr int kLeastSegmentPx = 2;
std::vector<int> segmentEnds(std::span<const BarSegment> segments, int width);

/// The leaves of a rank's time in the order of LOOK section 3, unattributed first; leaves of no length are left out.
/// Their ns sum to split.windowNs.
struct LeafTime {
    Leaf leaf = Leaf::Unattributed;
    std::int64_t ns = 0;
    bool operator==(const LeafTime&) const = default;
};
std::vector<LeafTime> leafTimes(const tracing::TimeSplit& split);

/// The leaf's word in a sentence about a whole run or rank: "waiting", "host late".
QString leafWord(Leaf leaf);

} // namespace rankscope::app
