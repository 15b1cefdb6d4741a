#include "tracing/cli/launch/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

namespace rankscope::tracing {

namespace {

int coresOfAffinity()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

std::optional<int> containerQuota()
{
    std::ifstream unified("/sys/fs/cgroup/cpu.max");
    std::string line;
    if (std::getline(unified, line))
        return coresOfQuota(line);
    std::ifstream quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    std::ifstream period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    std::string quotaUs;
    std::string periodUs;
    if (quota >> quotaUs && period >> periodUs)
        return coresOfQuota(quotaUs + " " + periodUs);
    return std::nullopt;
}

bool isProgram(const std::filesystem::path& path)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

} // namespace

std::optional<int> coresOfQuota(const std::string& cpuMax)
{
    std::istringstream stream(cpuMax);
    double quota = 0;
    double period = 0;
    if (!(stream >> quota >> period) || quota <= 0 || period <= 0)
        return std::nullopt;
    return std::max(1, static_cast<int>((quota + period - 1) / period));
}

std::optional<std::filesystem::path> findInPath(const std::string& program)
{
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::filesystem::path candidate = std::filesystem::path(folder.empty() ? "." : folder) / program;
        if (isProgram(candidate))
            return candidate;
    }
    return std::nullopt;
}

std::optional<std::filesystem::path> programBeside(const std::string& name)
{
    std::error_code error;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error || !isProgram(own.parent_path() / name))
        return std::nullopt;
    return own.parent_path() / name;
}

Machine thisMachine()
{
    Machine machine;
    const int named = coresOfAffinity();
    const std::optional<int> quota = containerQuota();
    machine.cores = quota ? std::min(named, *quota) : named;
    machine.mayBind = machine.cores == named;
    machine.isRoot = geteuid() == 0;
    machine.mpirun = findInPath("mpirun");
    machine.hasRemoteShell = findInPath("ssh") || findInPath("rsh");
    return machine;
}

} // namespace rankscope::tracing
