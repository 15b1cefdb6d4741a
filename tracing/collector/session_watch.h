#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// The file that a session's collector keeps locked as long as it lives.
inline std::string collectorLockPath(const std::string& sessionDir) { return sessionDir + "/collector.lock"; }

/// Finds ring files of a session: those that lie there, then those that appear. Without inotify (none left, or a file
/// system that has none) it looks at the directory now and then.
class SessionWatch {
public:
    explicit SessionWatch(std::string sessionDir);
    SessionWatch(const SessionWatch&) = delete;
    SessionWatch& operator=(const SessionWatch&) = delete;
    ~SessionWatch();

    /// Paths of rings not handed out before, also in the session's spill directory.
    std::vector<std::string> newRings();
    /// Sleeps until something appears in the session, at most this long.
    void wait(std::chrono::milliseconds most);

private:
    bool somethingAppeared();
    void watch(const std::string& dir);
    void scan(const std::string& dir, std::vector<std::string>& found);

    std::string sessionDir_;
    int inotify_ = -1;
    std::set<std::string> watched_;
    std::set<std::string> known_;
    std::chrono::steady_clock::time_point nextScan_{};
};

} // namespace rankscope::tracing
