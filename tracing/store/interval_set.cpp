#include "tracing/store/interval_set.h"

#include <algorithm>

namespace rankscope::tracing {

void IntervalSet::add(Window span, std::vector<Window>& fresh)
{
    if (span.endNs <= span.beginNs)
        return;
    if (intervals_.empty() || intervals_.back().endNs < span.beginNs) {
        fresh.push_back(span);
        intervals_.push_back(span);
        if (intervals_.size() > most_) {
            intervals_[1].beginNs = intervals_[0].beginNs;
            intervals_.pop_front();
        }
        return;
    }
    // Those that touch or overlap the span become one with it.
    const auto first = std::lower_bound(intervals_.begin(), intervals_.end(), span.beginNs,
        [](const Window& interval, std::int64_t beginNs) { return interval.endNs < beginNs; });
    auto last = first;
    Window all = span;
    std::int64_t uncoveredNs = span.beginNs;
    for (; last != intervals_.end() && last->beginNs <= span.endNs; ++last) {
        if (last->beginNs > uncoveredNs)
            fresh.push_back({ uncoveredNs, last->beginNs });
        uncoveredNs = std::max(uncoveredNs, last->endNs);
        all = { std::min(all.beginNs, last->beginNs), std::max(all.endNs, last->endNs) };
    }
    if (uncoveredNs < span.endNs)
        fresh.push_back({ uncoveredNs, span.endNs });
    if (first == last) {
        intervals_.insert(first, all);
        return;
    }
    *first = all;
    intervals_.erase(first + 1, last);
}

} // namespace rankscope::tracing
