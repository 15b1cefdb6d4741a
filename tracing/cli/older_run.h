#pragma once

#include "tracing/model/result.h"

#include <filesystem>

namespace rankscope::tracing {

/// A run file whose name a new run takes. It waits under "<name>.before" until the new run has made its first step, so
/// that a configuration or a text that the ranks refuse costs nobody an older recording.
class OlderRun {
public:
    /// There may be none; then nothing happens, now and later.
    static Result<OlderRun> setAside(const std::filesystem::path& out);
    OlderRun(OlderRun&& other) noexcept;
    OlderRun& operator=(OlderRun&&) = delete;
    ~OlderRun(); ///< puts it back, unless it was dropped

    bool isWaiting() const { return isWaiting_; }
    void putBack(); ///< in place of what the new run has written
    void drop(); ///< the new run has begun

private:
    explicit OlderRun(std::filesystem::path out);

    std::filesystem::path out_;
    std::filesystem::path aside_;
    bool isWaiting_ = false;
};

} // namespace rankscope::tracing
