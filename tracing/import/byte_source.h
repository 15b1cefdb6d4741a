#pragma once

#include "tracing/model/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace rankscope::tracing {

/// Bytes of a file in order, once: plain, gzip (.gz, several members too) or Zstandard, told by the first bytes and not
/// by the name. Never holds more than a few buffers. A compressed stream that is cut off gives what can be had and then
/// says so in `truncated`.
class ByteSource {
public:
    static Result<std::unique_ptr<ByteSource>> open(const std::string& path);
    virtual ~ByteSource() = default;

    /// Fills the buffer as far as the file goes; 0 at the end.
    virtual Result<std::size_t> read(std::span<char> buffer) = 0;

    std::uint64_t fileBytes() const { return fileBytes_; } ///< as on disk
    std::uint64_t fileBytesRead() const { return fileBytesRead_; } ///< for progress
    bool truncated() const { return truncated_; } ///< the compressed stream ended too early or is damaged from here on

protected:
    /// A stream that grows by more than this after the first 64 MiB is a bomb, not a trace (text compresses 5 to 40
    /// times).
    static constexpr std::uint64_t kGreatestRatio = 400;
    static constexpr std::uint64_t kNeverABomb = 64u << 20;
    Status checkRatio(std::uint64_t written) const;

    std::uint64_t fileBytes_ = 0;
    std::uint64_t fileBytesRead_ = 0;
    bool truncated_ = false;
};

/// First bytes of a file after decompression, for telling formats apart.
Result<std::string> firstBytes(const std::string& path, std::size_t count);

} // namespace rankscope::tracing
