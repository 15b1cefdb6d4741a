#include "tracing/analysis/descheduled_gaps.h"

#include "tracing/analysis/ledger/largest_remainder.h"

#include <algorithm>
#include <span>

namespace rankscope::tracing {

using ledger::mulDiv;

namespace {

bool isWork(RangeKind kind)
{
    return kind == RangeKind::Forward || kind == RangeKind::Backward || kind == RangeKind::Optimizer;
}

bool isGap(const LabelledInterval& interval)
{
    return interval.label == SpanClass::Unattributed || interval.label == SpanClass::Launch;
}

bool isCommunication(const LabelledInterval& interval)
{
    return interval.label == SpanClass::Transfer || interval.label == SpanClass::Wait
        || interval.label == SpanClass::Communication || interval.label == SpanClass::Bubble;
}

/// The pieces that lie in the range as a whole; its ends are rarely cuts, so the outermost ones may be left out.
std::span<LabelledInterval> piecesIn(std::vector<LabelledInterval>& intervals, const Range& range)
{
    const auto first = std::lower_bound(intervals.begin(), intervals.end(), range.beginNs,
        [](const LabelledInterval& piece, std::int64_t t) { return piece.beginNs < t; });
    const auto last = std::upper_bound(first, intervals.end(), range.endNs,
        [](std::int64_t t, const LabelledInterval& piece) { return t < piece.endNs; });
    return { first, last };
}

void book(std::span<LabelledInterval> pieces, const Range& range)
{
    std::int64_t lostNs = range.endNs - range.beginNs - *range.cpuNs;
    std::int64_t gapsNs = 0;
    for (const LabelledInterval& piece : pieces) {
        lostNs -= isGap(piece) ? 0 : piece.descheduledNs;
        // A wait that yields uses no CPU time either; it keeps its label.
        lostNs -= isCommunication(piece) ? piece.durationNs() : 0;
        gapsNs += isGap(piece) ? piece.durationNs() : 0;
    }
    lostNs = std::clamp<std::int64_t>(lostNs, 0, gapsNs);
    std::int64_t passedNs = 0;
    for (LabelledInterval& piece : pieces) {
        if (!isGap(piece))
            continue;
        const std::int64_t before = mulDiv(lostNs, passedNs, gapsNs);
        passedNs += piece.durationNs();
        piece.descheduledNs = mulDiv(lostNs, passedNs, gapsNs) - before;
    }
}

} // namespace

void bookDescheduledGaps(std::vector<LabelledInterval>& intervals, const std::vector<Range>& ranges, Window window)
{
    for (const Range& range : ranges) {
        const bool isInside = range.beginNs >= window.beginNs && range.endNs <= window.endNs;
        if (isInside && isWork(range.kind) && range.cpuNs && range.endNs > range.beginNs)
            book(piecesIn(intervals, range), range);
    }
}

} // namespace rankscope::tracing
