#include "tracing/analysis/launch_times.h"

#include "tracing/model/sort_runs.h"

#include <algorithm>

namespace rankscope::tracing {

using Call = std::pair<std::int64_t, std::int64_t>;

void LaunchTimes::finish()
{
    sortRuns(calls_, [](const Call& a, const Call& b) { return a < b; });
    const auto isSame = [](const Call& a, const Call& b) { return a.first == b.first; };
    calls_.erase(std::unique(calls_.begin(), calls_.end(), isSame), calls_.end());
    last_ = 0;
}

std::optional<std::int64_t> LaunchTimes::find(std::int64_t correlation)
{
    constexpr std::size_t kNear = 4; // calls that launch nothing stand between
    const auto end = calls_.end();
    auto place = calls_.begin() + static_cast<std::ptrdiff_t>(last_);
    if (place != end && place->first <= correlation) {
        for (std::size_t i = 0; i < kNear && place != end && place->first < correlation; ++i)
            ++place;
    }
    if (place == end || place->first != correlation)
        place = std::ranges::lower_bound(calls_, correlation, {}, &Call::first);
    if (place == end || place->first != correlation)
        return std::nullopt;
    last_ = static_cast<std::size_t>(place - calls_.begin());
    return place->second;
}

} // namespace rankscope::tracing
