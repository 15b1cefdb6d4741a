#include "app/session/recount_pace.h"

#include <algorithm>
#include <utility>

namespace rankscope::app {
namespace {

constexpr qint64 kLeastPauseMs = 250;
constexpr qint64 kPauseFactor = 3; // work one part, rest three

} // namespace

RecountPace::RecountPace(std::function<void()> due)
{
    timer_.setSingleShot(true);
    QObject::connect(&timer_, &QTimer::timeout, &timer_, std::move(due));
}

void RecountPace::wake()
{
    if (!running_ && !timer_.isActive())
        timer_.start(0);
}

void RecountPace::begin(std::int64_t version)
{
    running_ = true;
    started_ = version;
    clock_.start();
}

void RecountPace::end(std::optional<std::int64_t> newest)
{
    running_ = false;
    counted_ = started_;
    if (newest && *newest != counted_)
        timer_.start(static_cast<int>(std::max(kLeastPauseMs, kPauseFactor * clock_.elapsed())));
}

void RecountPace::reset()
{
    timer_.stop();
    running_ = false;
    counted_ = -1;
}

} // namespace rankscope::app
