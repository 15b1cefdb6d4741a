#include "tracing/record/command_file.h"

#include "tracing/record/clock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kLookEveryNs = 5'000'000;

std::string commandPath(const std::string& sessionDir) { return sessionDir + "/commands"; }

} // namespace

Status appendCommand(const std::string& sessionDir, std::string_view command)
{
    const std::string path = commandPath(sessionDir);
    const std::string line = std::string(command) + "\n";
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0)
        return Error("write " + path + ": " + std::strerror(errno));
    // One write in append mode: lines of several senders do not mix.
    const ssize_t written = write(file, line.data(), line.size());
    close(file);
    if (written != static_cast<ssize_t>(line.size()))
        return Error("write " + path + ": the file system is full");
    return Done{};
}

CommandReader::CommandReader(const std::string& sessionDir)
    : path_(commandPath(sessionDir))
{
}

std::optional<std::string> CommandReader::next()
{
    const std::int64_t nowNs = clockNs(CLOCK_MONOTONIC);
    if (lastLookNs_ != 0 && nowNs - lastLookNs_ < kLookEveryNs)
        return std::nullopt;
    struct stat info { };
    if (stat(path_.c_str(), &info) != 0 || info.st_size <= offset_) {
        lastLookNs_ = nowNs;
        return std::nullopt;
    }
    std::ifstream file(path_);
    file.seekg(offset_);
    std::string line;
    if (!std::getline(file, line) || file.eof()) {
        lastLookNs_ = nowNs;
        return std::nullopt;
    }
    offset_ += static_cast<std::int64_t>(line.size()) + 1;
    return line;
}

} // namespace rankscope::tracing
