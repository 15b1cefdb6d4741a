#pragma once

#include "app/timeline/core/time_map.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope::app::timeline {

/// Views that Alt+Left and Alt+Right walk through. Steps of one gesture (wheel, pan) that follow each other within
/// kGestureMs count as one view.
class ViewHistory {
public:
    static constexpr std::int64_t kGestureMs = 700;

    /// The view is about to change: remembers where it was.
    void leave(const TimeMap& from, bool jump, std::int64_t nowMs);
    std::optional<TimeMap> back(const TimeMap& now);
    std::optional<TimeMap> forward(const TimeMap& now);
    void clear();

private:
    std::vector<TimeMap> past_;
    std::vector<TimeMap> future_;
    std::optional<std::int64_t> lastGestureMs_;
};

} // namespace rankscope::app::timeline
