#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace rankscope::tracing {

/// Sorts stably what stands in ascending runs, such as rows that were read lane after lane: in linear time where it is
/// one run, and with a merge for each doubling of their number otherwise.
template <typename T, typename Less> void sortRuns(std::vector<T>& all, Less less)
{
    constexpr std::size_t kShortRun = 8; // runs that are shorter on average are none: sorting is cheaper
    std::vector<std::size_t> bounds{ 0 };
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (less(all[i], all[i - 1]))
            bounds.push_back(i);
        if (bounds.size() > 1 + all.size() / kShortRun)
            return std::stable_sort(all.begin(), all.end(), less);
    }
    bounds.push_back(all.size());
    const auto at = [&](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(bounds[i]); };
    while (bounds.size() > 2) {
        std::vector<std::size_t> merged;
        for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) {
            merged.push_back(bounds[i]);
            if (i + 2 < bounds.size())
                std::inplace_merge(at(i), at(i + 1), at(i + 2), less);
        }
        merged.push_back(all.size());
        bounds = std::move(merged);
    }
}

} // namespace rankscope::tracing
