#include "tracing/record/session.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace rankscope::tracing {

namespace {

struct Stat {
    char state = 'X';
    std::uint64_t start = 0;
};

std::optional<Stat> readStat(std::int32_t processId)
{
    std::string path = "/proc/";
    path.append(std::to_string(processId)).append("/stat");
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line))
        return std::nullopt;
    // The program's name may hold spaces and parentheses; fields count from the last ')'.
    const std::size_t nameEnd = line.rfind(')');
    if (nameEnd == std::string::npos)
        return std::nullopt;
    std::istringstream fields(line.substr(nameEnd + 1));
    Stat stat;
    fields >> stat.state;
    std::string skipped;
    for (int field = 4; field < 22; ++field)
        fields >> skipped;
    fields >> stat.start;
    return fields ? std::optional(stat) : std::nullopt;
}

} // namespace

ProcessIdentity thisProcess()
{
    const auto processId = static_cast<std::int32_t>(getpid());
    const auto stat = readStat(processId);
    return { processId, stat ? stat->start : 0 };
}

bool isAlive(const ProcessIdentity& process)
{
    const auto stat = readStat(process.processId);
    return stat && stat->start == process.start && stat->state != 'Z' && stat->state != 'X';
}

std::string processKey(const ProcessIdentity& process)
{
    std::string key(1, 'p');
    return key.append(std::to_string(process.processId)).append("-").append(std::to_string(process.start));
}

std::string spillDir(const std::string& sessionDir) { return sessionDir + "/spill"; }

std::optional<std::string> openSpillDir(const std::string& sessionDir)
{
    const std::string link = spillDir(sessionDir);
    struct stat info { };
    if (stat(link.c_str(), &info) == 0)
        return link;
    const char* base = std::getenv("TMPDIR");
    std::string target = std::string(base && *base ? base : "/tmp") + "/rankscope-spill-XXXXXX";
    if (!mkdtemp(target.data()))
        return std::nullopt;
    if (symlink(target.c_str(), link.c_str()) == 0)
        return link;
    // Another rank was faster: its directory serves all.
    rmdir(target.c_str());
    return errno == EEXIST || stat(link.c_str(), &info) == 0 ? std::optional(link) : std::nullopt;
}

} // namespace rankscope::tracing
