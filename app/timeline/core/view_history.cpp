#include "app/timeline/core/view_history.h"

namespace rankscope::app::timeline {
namespace {

constexpr std::size_t kMostViews = 200;

} // namespace

void ViewHistory::leave(const TimeMap& from, bool jump, std::int64_t nowMs)
{
    const bool sameGesture = !jump && lastGestureMs_ && nowMs - *lastGestureMs_ < kGestureMs;
    lastGestureMs_ = jump ? std::nullopt : std::optional(nowMs);
    if (sameGesture)
        return;
    future_.clear();
    past_.push_back(from);
    if (past_.size() > kMostViews)
        past_.erase(past_.begin());
}

std::optional<TimeMap> ViewHistory::back(const TimeMap& now)
{
    if (past_.empty())
        return std::nullopt;
    future_.push_back(now);
    const TimeMap view = past_.back();
    past_.pop_back();
    lastGestureMs_.reset();
    return view;
}

std::optional<TimeMap> ViewHistory::forward(const TimeMap& now)
{
    if (future_.empty())
        return std::nullopt;
    past_.push_back(now);
    const TimeMap view = future_.back();
    future_.pop_back();
    lastGestureMs_.reset();
    return view;
}

void ViewHistory::clear()
{
    past_.clear();
    future_.clear();
    lastGestureMs_.reset();
}

} // namespace rankscope::app::timeline
