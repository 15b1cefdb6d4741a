#pragma once

#include "tracing/model/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace rankscope::backend {

/// A file that is written from front to end and is on storage once close() has returned good.
class DurableFile {
public:
    /// Creates or empties it. Errors name the path and the system's reason.
    static tracing::Result<DurableFile> create(const std::string& path);
    DurableFile(DurableFile&& other) noexcept;
    DurableFile& operator=(DurableFile&&) = delete;
    ~DurableFile();

    tracing::Status write(std::span<const std::byte> bytes);
    /// Flushes to storage and closes.
    tracing::Status close();

    std::uint64_t bytes() const { return bytes_; }
    std::uint32_t checksum() const { return checksum_; } ///< CRC-32 (zlib) of all that was written

private:
    DurableFile(std::string path, int file)
        : path_(std::move(path))
        , file_(file)
    {
    }
    tracing::Error error(const char* doing) const;

    std::string path_;
    int file_ = -1;
    std::uint64_t bytes_ = 0;
    std::uint32_t checksum_ = 0;
};

/// What a folder lists is on storage.
tracing::Status syncFolder(const std::string& path);

/// Bytes and CRC-32 of a file.
struct FileSum {
    std::uint64_t bytes = 0;
    std::uint32_t checksum = 0;

    bool operator==(const FileSum&) const = default;
};
tracing::Result<FileSum> sumOfFile(const std::string& path);

/// `text` under a name that either holds all of it or what was there before: written aside, flushed, renamed.
tracing::Status replaceFile(const std::string& path, const std::string& text);

} // namespace rankscope::backend
