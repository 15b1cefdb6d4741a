#include "tracing/model/interval.h"

#include "tracing/model/sort_runs.h"

#include <algorithm>

namespace rankscope::tracing {

Intervals unionOf(std::vector<Window> stretches)
{
    std::erase_if(stretches, [](const Window& stretch) { return stretch.endNs <= stretch.beginNs; });
    sortRuns(stretches, [](const Window& a, const Window& b) { return a.beginNs < b.beginNs; });
    Intervals merged;
    for (const Window& stretch : stretches) {
        if (!merged.empty() && stretch.beginNs <= merged.back().endNs)
            merged.back().endNs = std::max(merged.back().endNs, stretch.endNs);
        else
            merged.push_back(stretch);
    }
    return merged;
}

Intervals intersection(std::span<const Window> a, std::span<const Window> b)
{
    Intervals common;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        const std::int64_t begin = std::max(a[i].beginNs, b[j].beginNs);
        const std::int64_t end = std::min(a[i].endNs, b[j].endNs);
        if (begin < end)
            common.push_back({ begin, end });
        if (a[i].endNs < b[j].endNs)
            ++i;
        else
            ++j;
    }
    return common;
}

Intervals difference(std::span<const Window> a, std::span<const Window> b)
{
    Intervals rest;
    std::size_t j = 0;
    for (const Window& stretch : a) {
        std::int64_t from = stretch.beginNs;
        while (j < b.size() && b[j].endNs <= from)
            ++j;
        // b[k] may reach into the next stretch of a, so j stays.
        for (std::size_t k = j; k < b.size() && b[k].beginNs < stretch.endNs; ++k) {
            if (from < b[k].beginNs)
                rest.push_back({ from, b[k].beginNs });
            from = std::max(from, b[k].endNs);
        }
        if (from < stretch.endNs)
            rest.push_back({ from, stretch.endNs });
    }
    return rest;
}

Intervals clipped(std::span<const Window> a, Window window)
{
    if (window.endNs <= window.beginNs)
        return {};
    return intersection(a, std::span<const Window>(&window, 1));
}

std::int64_t totalNs(std::span<const Window> a)
{
    std::int64_t total = 0;
    for (const Window& stretch : a)
        total += stretch.durationNs();
    return total;
}

bool covers(std::span<const Window> a, std::int64_t at)
{
    const auto after = std::ranges::upper_bound(a, at, {}, &Window::beginNs);
    return after != a.begin() && at < std::prev(after)->endNs;
}

void cutsWithin(std::span<const Window> a, std::int64_t beginNs, std::int64_t endNs, std::vector<std::int64_t>& cuts)
{
    auto it = std::ranges::upper_bound(a, beginNs, {}, &Window::endNs);
    for (; it != a.end() && it->beginNs < endNs; ++it) {
        if (it->beginNs > beginNs)
            cuts.push_back(it->beginNs);
        if (it->endNs < endNs)
            cuts.push_back(it->endNs);
    }
}

} // namespace rankscope::tracing
