#include "tracing/analysis/ledger/intervals.h"

#include <algorithm>

namespace rankscope::tracing::ledger {

std::vector<Interval> unite(std::vector<Interval> intervals)
{
    std::erase_if(intervals, [](const Interval& i) { return i.end <= i.begin; });
    std::ranges::sort(intervals, {}, &Interval::begin);
    std::vector<Interval> out;
    for (const Interval& interval : intervals) {
        if (!out.empty() && interval.begin <= out.back().end)
            out.back().end = std::max(out.back().end, interval.end);
        else
            out.push_back(interval);
    }
    return out;
}

std::vector<Interval> intersect(const std::vector<Interval>& a, const std::vector<Interval>& b)
{
    std::vector<Interval> out;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const Ns begin = std::max(a[i].begin, b[j].begin);
        const Ns end = std::min(a[i].end, b[j].end);
        if (begin < end)
            out.push_back({ begin, end });
        (a[i].end < b[j].end ? i : j) += 1;
    }
    return out;
}

Ns lengthOf(const std::vector<Interval>& disjoint)
{
    Ns sum = 0;
    for (const Interval& interval : disjoint)
        sum += interval.end - interval.begin;
    return sum;
}

bool covers(const std::vector<Interval>& disjoint, Ns at)
{
    const auto after = std::ranges::upper_bound(disjoint, at, {}, &Interval::begin);
    return after != disjoint.begin() && at < std::prev(after)->end;
}

void cutsWithin(const std::vector<Interval>& disjoint, Ns begin, Ns end, std::vector<Ns>& cuts)
{
    auto it = std::ranges::upper_bound(disjoint, begin, {}, &Interval::end);
    for (; it != disjoint.end() && it->begin < end; ++it) {
        if (it->begin > begin)
            cuts.push_back(it->begin);
        if (it->end < end)
            cuts.push_back(it->end);
    }
}

} // namespace rankscope::tracing::ledger
