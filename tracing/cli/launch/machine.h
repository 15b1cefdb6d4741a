#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace rankscope::tracing {

/// What the launcher has to know of the machine that it runs on.
struct Machine {
    int cores = 1; ///< that this process may use: affinity and a container's quota
    bool mayBind = true; ///< false where a quota gives fewer cores than the affinity names
    bool isRoot = false;
    std::optional<std::filesystem::path> mpirun; ///< in PATH
    bool hasRemoteShell = true; ///< ssh or rsh, which Open MPI looks for even on one node
};
Machine thisMachine();

/// The program of that name in PATH.
std::optional<std::filesystem::path> findInPath(const std::string& program);

/// A program of ours: beside the running one. None where it is not there.
std::optional<std::filesystem::path> programBeside(const std::string& name);

/// Cores of a cgroup's cpu.max ("200000 100000": 2; "max ...": none), rounded up.
std::optional<int> coresOfQuota(const std::string& cpuMax);

} // namespace rankscope::tracing
