#include "app/models/leaf_bar.h"

#include <algorithm>
#include <numeric>

namespace rankscope::app {

std::vector<int> segmentEnds(std::span<const BarSegment> segments, int width)
{
    const std::int64_t total = std::accumulate(segments.begin(), segments.end(), std::int64_t{ 0 },
        [](std::int64_t sum, const BarSegment& segment) { return sum + segment.ns; });
    std::vector<int> widths(segments.size(), 0);
    if (total <= 0 || width <= 0)
        return widths;
    std::int64_t passed = 0;
    int used = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        passed += segments[i].ns;
        const int end = static_cast<int>(
            static_cast<double>(passed) / static_cast<double>(total) * static_cast<double>(width) + 0.5);
        widths[i] = end - used;
        used = end;
    }
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const auto widest = std::max_element(widths.begin(), widths.end());
        const int missing = kLeastSegmentPx - widths[i];
        if (segments[i].ns > 0 && missing > 0 && *widest - missing > kLeastSegmentPx) {
            *widest -= missing;
            widths[i] += missing;
        }
    }
    std::partial_sum(widths.begin(), widths.end(), widths.begin());
    return widths;
}

std::vector<LeafTime> leafTimes(const tracing::TimeSplit& split)
{
    std::vector<LeafTime> times{
        { Leaf::Unattributed, split.unattributedNs() },
        { Leaf::Compute, split.computeNs },
        { Leaf::Transfer, split.transferNs },
        { Leaf::Communication, split.unsplitNs },
        { Leaf::Wait, split.waitNs },
        { Leaf::Bubble, split.bubbleNs() },
        { Leaf::Imbalance, split.imbalanceNs },
        { Leaf::Copy, split.copyNs },
        { Leaf::Host, split.hostNs },
        { Leaf::Launch, split.gapNs() },
        { Leaf::Data, split.dataNs },
        { Leaf::Checkpoint, split.checkpointNs },
        { Leaf::Lost, split.lostNs + split.downNs },
        { Leaf::Start, split.startNs + split.plannedNs },
        { Leaf::Descheduled, split.descheduledNs },
    };
    std::erase_if(times, [](const LeafTime& time) { return time.ns == 0; });
    return times;
}

QString leafWord(Leaf leaf)
{
    if (leaf == Leaf::Wait)
        return QStringLiteral("waiting");
    if (leaf == Leaf::Communication)
        return QStringLiteral("communication");
    const auto word = leafStyle(leaf, Theme::Dark).word;
    return QString::fromUtf8(word.data(), static_cast<qsizetype>(word.size()));
}

} // namespace rankscope::app
