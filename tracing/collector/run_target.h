#pragma once

#include "tracing/model/result.h"

#include <string>

namespace rankscope::tracing {

/// Where the run file grows. SQLite's WAL needs shared memory between processes: on a network file system the run is
/// written locally and copied when it is finished.
class RunTarget {
public:
    /// Reads or leaves a note in the session directory, so that a restarted collector goes on with the same file.
    static Result<RunTarget> choose(const std::string& sessionDir, const std::string& out);

    /// Whether the session's collector was writing to exactly this file.
    static bool isNoted(const std::string& sessionDir, const std::string& out);

    const std::string& workPath() const { return work_; }
    const std::string& outPath() const { return out_; }
    /// A collector of this session wrote here before.
    bool isResumed() const { return isResumed_; }
    bool isLocalCopy() const { return work_ != out_; }
    /// Copies the finished file to its place and removes the local one.
    Status deliver() const;

private:
    std::string out_;
    std::string work_;
    bool isResumed_ = false;
};

/// "nfs", "lustre", ... for a file system without shared memory between processes; empty for a local one.
std::string networkFileSystemOf(const std::string& dir);
/// The same by the number that statfs gives.
std::string networkFileSystemName(long magic);

} // namespace rankscope::tracing
