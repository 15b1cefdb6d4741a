#include "app/timeline/core/emphasis.h"

#include <algorithm>

namespace rankscope::app::timeline {

std::vector<tracing::Window> dimmedParts(
    const Emphasis& emphasis, std::int32_t rank, tracing::Window visible, std::int64_t leastNs)
{
    if (emphasis.empty() || visible.durationNs() <= 0)
        return {};
    if (!emphasis.ranks.empty() && !emphasis.ranks.contains(rank))
        return { visible };
    if (!emphasis.onlyStretches)
        return {};
    const auto found = emphasis.stretches.find(rank);
    if (found == emphasis.stretches.end())
        return { visible };
    const std::vector<tracing::Window>& stretches = found->second;
    std::vector<tracing::Window> dimmed;
    std::int64_t at = visible.beginNs;
    while (at < visible.endNs) {
        const auto next = std::upper_bound(stretches.begin(), stretches.end(), at,
            [](std::int64_t ns, const tracing::Window& stretch) { return ns < stretch.endNs; });
        const std::int64_t begin = next == stretches.end() ? visible.endNs : std::min(next->beginNs, visible.endNs);
        if (begin - at >= leastNs)
            dimmed.push_back({ at, begin });
        if (next == stretches.end())
            break;
        // At least a pixel of it stays bright; the stretches under that pixel are passed over in one go.
        at = std::max(next->endNs, std::max(begin, at) + std::max<std::int64_t>(leastNs, 1));
    }
    return dimmed;
}

} // namespace rankscope::app::timeline
