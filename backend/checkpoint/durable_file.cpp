#include "backend/checkpoint/durable_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

namespace rankscope::backend {

using tracing::Done;
using tracing::Error;
using tracing::Result;
using tracing::Status;

namespace {

std::uint32_t addTo(std::uint32_t checksum, const void* bytes, std::size_t count)
{
    return static_cast<std::uint32_t>(crc32_z(checksum, static_cast<const unsigned char*>(bytes), count));
}

} // namespace

Result<DurableFile> DurableFile::create(const std::string& path)
{
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        return Error("create " + path + ": " + std::strerror(errno));
    return DurableFile(path, file);
}

DurableFile::DurableFile(DurableFile&& other) noexcept
    : path_(std::move(other.path_))
    , file_(std::exchange(other.file_, -1))
    , bytes_(other.bytes_)
    , checksum_(other.checksum_)
{
}

DurableFile::~DurableFile()
{
    if (file_ >= 0)
        ::close(file_);
}

Error DurableFile::error(const char* doing) const
{
    return Error(std::string(doing) + " " + path_ + ": " + std::strerror(errno));
}

Status DurableFile::write(std::span<const std::byte> bytes)
{
    checksum_ = addTo(checksum_, bytes.data(), bytes.size());
    bytes_ += bytes.size();
    while (!bytes.empty()) {
        const ssize_t written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR)
            return error("write");
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(0, written)));
    }
    return Done{};
}

Status DurableFile::close()
{
    // A device such as /dev/full knows no flush.
    if (fsync(file_) != 0 && errno != EINVAL)
        return error("flush");
    if (::close(std::exchange(file_, -1)) != 0)
        return error("close");
    return Done{};
}

Status syncFolder(const std::string& path)
{
    const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return Error("open " + path + ": " + std::strerror(errno));
    const int failed = fsync(folder);
    const int reason = errno;
    close(folder);
    if (failed != 0 && reason != EINVAL) // some file systems know no flush of folders
        return Error("flush " + path + ": " + std::strerror(reason));
    return Done{};
}

Result<FileSum> sumOfFile(const std::string& path)
{
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return Error("open " + path + ": " + std::strerror(errno));
    FileSum sum;
    std::vector<std::byte> buffer(1 << 20);
    for (;;) {
        const ssize_t count = read(file, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            const int reason = errno;
            close(file);
            return Error("read " + path + ": " + std::strerror(reason));
        }
        if (count == 0)
            break;
        sum.checksum = addTo(sum.checksum, buffer.data(), static_cast<std::size_t>(count));
        sum.bytes += static_cast<std::uint64_t>(count);
    }
    close(file);
    return sum;
}

Status replaceFile(const std::string& path, const std::string& text)
{
    const std::string draft = path + ".new";
    auto file = DurableFile::create(draft);
    if (!file)
        return file.error();
    if (const Status written = file->write(std::as_bytes(std::span(text))); !written)
        return written;
    if (const Status closed = file->close(); !closed)
        return closed;
    if (std::rename(draft.c_str(), path.c_str()) != 0)
        return Error("rename " + draft + ": " + std::strerror(errno));
    return syncFolder(std::filesystem::path(path).parent_path().string());
}

} // namespace rankscope::backend
