#include "tracing/collector/session_watch.h"

#include "tracing/record/ring_layout.h"
#include "tracing/record/session.h"

#include <algorithm>
#include <filesystem>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr std::chrono::milliseconds kScanEvery{ 500 };

} // namespace

SessionWatch::SessionWatch(std::string sessionDir)
    : sessionDir_(std::move(sessionDir))
    , inotify_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC))
{
    watch(sessionDir_);
}

SessionWatch::~SessionWatch()
{
    if (inotify_ >= 0)
        close(inotify_);
}

void SessionWatch::watch(const std::string& dir)
{
    if (inotify_ >= 0 && !watched_.contains(dir)
        && inotify_add_watch(inotify_, dir.c_str(), IN_MOVED_TO | IN_CREATE) >= 0)
        watched_.insert(dir);
}

bool SessionWatch::somethingAppeared()
{
    bool any = false;
    char events[4096];
    while (inotify_ >= 0 && read(inotify_, events, sizeof events) > 0)
        any = true;
    return any;
}

std::vector<std::string> SessionWatch::newRings()
{
    std::vector<std::string> found;
    const auto now = std::chrono::steady_clock::now();
    // A scan now and then as well: the queue of events may overflow, and the spill directory may come any time.
    if (!somethingAppeared() && now < nextScan_)
        return found;
    nextScan_ = now + kScanEvery;
    scan(sessionDir_, found);
    std::error_code error;
    const std::string spill = spillDir(sessionDir_);
    if (std::filesystem::is_directory(spill, error)) {
        watch(spill);
        scan(spill, found);
    }
    std::sort(found.begin(), found.end());
    return found;
}

void SessionWatch::scan(const std::string& dir, std::vector<std::string>& found)
{
    std::error_code error;
    for (std::filesystem::directory_iterator at(dir, error), end; !error && at != end; at.increment(error)) {
        const std::string path = at->path().string();
        if (path.ends_with(kRingSuffix) && known_.insert(path).second)
            found.push_back(path);
    }
}

void SessionWatch::wait(std::chrono::milliseconds most)
{
    pollfd events{ inotify_, POLLIN, 0 };
    poll(&events, inotify_ >= 0 ? 1 : 0, static_cast<int>(most.count()));
}

} // namespace rankscope::tracing
