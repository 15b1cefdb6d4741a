#pragma once

#include "tracing/model/result.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace rankscope::tracing {

struct CollectProgress {
    std::uint64_t records = 0; ///< taken by this collector
    std::uint64_t dropped = 0; ///< by full rings, or for want of disk space
    std::size_t writers = 0; ///< threads that still record
    std::chrono::milliseconds elapsed{};
};

struct CollectOptions {
    std::string sessionDir;
    std::string out; ///< the run file. One of the same session is continued, another run file is replaced
    std::string runName;
    /// Who may start ranks again after a failure, and so makes `quiet` long; 0: nobody. When it is gone without a word,
    /// kQuietAlone is long enough.
    std::int32_t launcher = 0;
    static constexpr std::chrono::milliseconds kQuietAlone{ 2000 };
    std::chrono::milliseconds quiet{ 5000 }; ///< ends that long after the last writer has gone, without a word as well
    std::chrono::milliseconds firstWriter{ 120'000 }; ///< and after so long without any writer
    const std::atomic<bool>* stop = nullptr; ///< set from outside (a signal): drain, finish, return
    std::function<void(const CollectProgress&)> progress; ///< about once a second
    bool keepSession = false; ///< leave the session's files when they are in the run file
};

struct CollectSummary {
    std::uint64_t records = 0;
    std::uint64_t dropped = 0;
    std::size_t rings = 0;
    std::string file;
};

/// Drains a session into its run file until the job is over and its writers are gone. One collector a session; a second
/// one is refused. A collector that was killed is started again with the same options and loses and doubles nothing.
/// When the file cannot grow (a full disk), says so once, keeps emptying the rings so that the job is not disturbed,
/// and in the end returns how much is missing; what was written until then stays readable.
Result<CollectSummary> collect(const CollectOptions& options);

/// Tells the collector that no further writer will start: it ends as soon as the present ones are gone.
Status announceJobOver(const std::string& sessionDir);

/// Drains what a crash left of the run's recording (its session directory stands in the file). False: nothing was left,
/// or its ranks or its collector are still at work.
Result<bool> drainLeftover(const std::string& runFile);

/// The session directory of the file, where ranks or a collector of this machine are still at work on it.
Result<std::optional<std::string>> sessionAtWork(const std::string& runFile);
/// Whether somebody is: nobody else may replace the file.
Result<bool> isBeingRecorded(const std::string& runFile);

} // namespace rankscope::tracing
