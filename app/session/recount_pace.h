#pragma once

#include <QElapsedTimer>
#include <QTimer>

#include <cstdint>
#include <functional>
#include <optional>

namespace rankscope::app {

/// When a run that grows is counted again: once at a time, for a version of its data that was not counted yet, and with
/// pauses that keep it to a quarter of one core.
class RecountPace {
public:
    explicit RecountPace(std::function<void()> due); ///< called when it is time to look whether there is more

    void wake(); ///< there may be more
    void begin(std::int64_t version);
    void end(std::optional<std::int64_t> newest); ///< `newest`: version of the data that there is by now
    void reset(); ///< nothing is counted, nothing goes on

    bool isRunning() const { return running_; }
    std::int64_t counted() const { return counted_; } ///< version; -1: none

private:
    QTimer timer_;
    QElapsedTimer clock_;
    bool running_ = false;
    std::int64_t started_ = -1;
    std::int64_t counted_ = -1;
};

} // namespace rankscope::app
