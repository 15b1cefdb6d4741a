#include "backend/checkpoint/state.h"

#include <algorithm>

namespace rankscope::backend {

std::size_t floatsOf(const std::vector<StateSlice>& slices)
{
    std::size_t floats = 0;
    for (const StateSlice& slice : slices)
        floats += slice.data.size();
    return floats;
}

std::vector<StateSlice> shareOf(const std::vector<StateSlice>& slices, std::size_t index, std::size_t holders)
{
    const std::size_t all = floatsOf(slices);
    const std::size_t from = all * index / holders;
    const std::size_t to = all * (index + 1) / holders;
    std::vector<StateSlice> share;
    std::size_t at = 0; // of the slice's first float among all
    for (const StateSlice& slice : slices) {
        const std::size_t first = std::max(from, at);
        const std::size_t last = std::min(to, at + slice.data.size());
        if (first < last)
            share.push_back({ slice.name, slice.begin + (first - at), slice.data.subspan(first - at, last - first) });
        at += slice.data.size();
    }
    return share;
}

} // namespace rankscope::backend
