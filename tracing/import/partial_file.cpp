#include "tracing/import/partial_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

// RESULT.MACHINE-XXXXXX.importing, what SQLite lays beside it, and the lock.
constexpr std::string_view kEnding = ".importing", kLock = "-lock";
constexpr std::array<const char*, 4> kFiles{ "", "-wal", "-shm", "-journal" };

/// The machine in eight letters.
std::string machineWord()
{
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    std::uint32_t value = 0x811c9dc5; // FNV-1a, 32 bits
    for (const char c : std::string_view(name.data()))
        value = (value ^ static_cast<unsigned char>(c)) * 0x01000193;
    std::array<char, 9> hex{};
    std::snprintf(hex.data(), hex.size(), "%08x", value);
    return hex.data();
}

void removeFiles(const std::string& partial)
{
    for (const char* suffix : kFiles)
        std::remove((partial + suffix).c_str());
    std::remove((partial + std::string(kLock)).c_str()); // last: the others are nobody's without it
}

/// Someone who tidies up may have taken the lock's file away before it was locked.
bool isStillThere(int file)
{
    struct stat info { };
    return ::fstat(file, &info) == 0 && info.st_nlink > 0;
}

bool isUntouchedForADay(const std::string& partial)
{
    const auto yesterday = fs::file_time_type::clock::now() - std::chrono::hours(24);
    return std::ranges::none_of(std::array{ "", "-wal", "-lock" }, [&](const char* suffix) {
        std::error_code error;
        const auto written = fs::last_write_time(partial + suffix, error);
        return !error && written > yesterday;
    });
}

void removeIfGone(const std::string& partial)
{
    const bool isOurs = partial.find("." + machineWord() + "-") != std::string::npos;
    if (!isOurs && !isUntouchedForADay(partial))
        return;
    const int lock = ::open((partial + std::string(kLock)).c_str(), O_RDWR | O_CLOEXEC);
    if (lock < 0)
        return;
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0)
        removeFiles(partial);
    ::close(lock);
}

} // namespace

Result<PartialFile> PartialFile::create(const std::string& out)
{
    const fs::path target(out);
    removeLeftovers(target.has_parent_path() ? target.parent_path() : ".", target.filename().string() + ".");
    const std::string ending = std::string(kEnding) + std::string(kLock);
    for (;;) {
        std::string path = out + "." + machineWord() + "-XXXXXX" + ending;
        const int lock = ::mkostemps(path.data(), static_cast<int>(ending.size()), O_CLOEXEC);
        if (lock < 0)
            return Error("write " + out + ": " + std::strerror(errno));
        // Where a file system has no locks nobody gets one, and leftovers stay.
        ::flock(lock, LOCK_EX | LOCK_NB);
        if (isStillThere(lock))
            return PartialFile(out, path.substr(0, path.size() - kLock.size()), lock);
        ::close(lock);
    }
}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : out_(std::move(other.out_))
    , path_(std::move(other.path_))
    , lock_(std::exchange(other.lock_, -1))
{
}

PartialFile::~PartialFile()
{
    if (lock_ < 0)
        return;
    removeFiles(path_);
    ::close(lock_);
}

Status PartialFile::putInPlace()
{
    if (std::rename(path_.c_str(), out_.c_str()) != 0)
        return Error("write " + out_ + ": cannot be put in place: " + std::strerror(errno));
    return Done{};
}

void removeLeftovers(const fs::path& folder, std::string_view head)
{
    const std::string ending = std::string(kEnding) + std::string(kLock);
    std::vector<std::string> partials;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (name.starts_with(head) && name.ends_with(ending))
            partials.push_back((folder / name.substr(0, name.size() - kLock.size())).string());
    }
    for (const std::string& partial : partials)
        removeIfGone(partial);
}

} // namespace rankscope::tracing
