#include "backend/comm/run_queue.h"

#include <array>
#include <charconv>
#include <fcntl.h>
#include <unistd.h>

namespace rankscope::backend {

namespace {

/// Time on a core, time in the run queue, both in ns, and a count (Linux, Documentation/scheduler/sched-stats).
struct StatisticsFile {
    int descriptor = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

    StatisticsFile() = default;
    StatisticsFile(const StatisticsFile&) = delete;
    StatisticsFile& operator=(const StatisticsFile&) = delete;
    ~StatisticsFile()
    {
        if (descriptor >= 0)
            close(descriptor);
    }
};

} // namespace

std::optional<std::int64_t> runQueueNs()
{
    // It stays the file of the thread that opened it.
    thread_local const StatisticsFile file;
    std::array<char, 96> text;
    const ssize_t size = file.descriptor < 0 ? -1 : pread(file.descriptor, text.data(), text.size(), 0);
    if (size <= 0)
        return std::nullopt;
    const char* const end = text.data() + size;
    std::int64_t onCore = 0, inQueue = 0;
    const auto first = std::from_chars(text.data(), end, onCore);
    if (first.ec != std::errc() || first.ptr == end || std::from_chars(first.ptr + 1, end, inQueue).ec != std::errc())
        return std::nullopt;
    return inQueue;
}

} // namespace rankscope::backend
