#include "backend/train/process_usage.h"

#include <ctime>
#include <fstream>
#include <unistd.h>

namespace rankscope::backend {

double processCpuSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::int64_t residentBytes()
{
    // Second number of statm: resident pages (man 5 proc).
    std::ifstream statm("/proc/self/statm");
    std::int64_t total = 0, resident = 0;
    return statm >> total >> resident ? resident * sysconf(_SC_PAGESIZE) : 0;
}

std::string processorName()
{
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) {
            const std::size_t begin = line.find_first_not_of(" \t", line.find(':') + 1);
            return begin == std::string::npos ? "unknown processor" : line.substr(begin);
        }
    }
    return "unknown processor";
}

} // namespace rankscope::backend
