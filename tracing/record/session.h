#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rankscope::tracing {

/// A process by something that a later process with the same id does not share.
struct ProcessIdentity {
    std::int32_t processId = 0;
    std::uint64_t start = 0; ///< field 22 of /proc/PID/stat, clock ticks since boot
};
ProcessIdentity thisProcess();
/// False once the process is gone, is a zombie, or its id belongs to another one.
bool isAlive(const ProcessIdentity& process);

/// "p1234-567": what the file names of a process begin with.
std::string processKey(const ProcessIdentity& process);

/// Where rings go when the session's own file system is full: DIR/spill, a link to a directory on disk that this makes.
std::optional<std::string> openSpillDir(const std::string& sessionDir);
std::string spillDir(const std::string& sessionDir);

} // namespace rankscope::tracing
