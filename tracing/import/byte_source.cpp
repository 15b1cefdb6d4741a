#include "tracing/import/byte_source.h"

#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kBuffer = 1u << 18;

class File {
public:
    explicit File(int descriptor)
        : descriptor_(descriptor)
    {
    }
    File(File&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1))
    {
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    File& operator=(File&&) = delete;
    ~File()
    {
        if (descriptor_ >= 0)
            ::close(descriptor_);
    }

    Result<std::size_t> read(char* data, std::size_t size) const
    {
        for (;;) {
            const ssize_t n = ::read(descriptor_, data, size);
            if (n >= 0)
                return static_cast<std::size_t>(n);
            if (errno != EINTR)
                return Error(std::string("read: ") + std::strerror(errno));
        }
    }
    void rewind() const { lseek(descriptor_, 0, SEEK_SET); }

private:
    int descriptor_;
};

class PlainSource : public ByteSource {
public:
    PlainSource(File file, std::uint64_t bytes)
        : file_(std::move(file))
    {
        fileBytes_ = bytes;
    }
    Result<std::size_t> read(std::span<char> buffer) override
    {
        auto n = file_.read(buffer.data(), buffer.size());
        if (n)
            fileBytesRead_ += *n;
        return n;
    }

private:
    File file_;
};

class GzipSource : public ByteSource {
public:
    GzipSource(File file, std::uint64_t bytes)
        : file_(std::move(file))
        , input_(kBuffer)
    {
        fileBytes_ = bytes;
        ready_ = inflateInit2(&stream_, 15 + 32) == Z_OK;
    }
    GzipSource(const GzipSource&) = delete;
    GzipSource& operator=(const GzipSource&) = delete;
    ~GzipSource() override { inflateEnd(&stream_); }

    Result<std::size_t> read(std::span<char> buffer) override
    {
        if (!ready_)
            return Error("zlib could not start");
        stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream_.avail_out = static_cast<uInt>(buffer.size());
        while (!done_ && stream_.avail_out > 0) {
            if (stream_.avail_in == 0) {
                const auto n = file_.read(input_.data(), input_.size());
                if (!n)
                    return n;
                fileBytesRead_ += *n;
                stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
                stream_.avail_in = static_cast<uInt>(*n);
                if (*n == 0) {
                    done_ = true;
                    truncated_ = insideMember_;
                    break;
                }
            }
            step();
        }
        const std::size_t written = buffer.size() - stream_.avail_out;
        total_ += written;
        if (Status status = checkRatio(total_); !status)
            return status.error();
        return written;
    }

private:
    void step()
    {
        insideMember_ = true;
        const int code = inflate(&stream_, Z_NO_FLUSH);
        if (code == Z_STREAM_END) {
            insideMember_ = false;
            inflateReset(&stream_); // several members one behind another are one file
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            done_ = true;
            // Padding behind a complete member is harmless.
            truncated_ = total_ == 0 || stream_.total_out > 0 || code != Z_DATA_ERROR;
        }
    }

    File file_;
    std::vector<char> input_;
    z_stream stream_{};
    bool ready_ = false;
    bool done_ = false;
    bool insideMember_ = false;
    std::uint64_t total_ = 0;
};

class ZstdSource : public ByteSource {
public:
    ZstdSource(File file, std::uint64_t bytes)
        : file_(std::move(file))
        , input_(kBuffer)
        , stream_(ZSTD_createDStream(), &ZSTD_freeDStream)
    {
        fileBytes_ = bytes;
        ZSTD_initDStream(stream_.get());
        ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, 27); // 128 MiB window at most
    }

    Result<std::size_t> read(std::span<char> buffer) override
    {
        ZSTD_outBuffer out{ buffer.data(), buffer.size(), 0 };
        while (!done_ && out.pos < out.size) {
            if (in_.pos == in_.size) {
                const auto n = file_.read(input_.data(), input_.size());
                if (!n)
                    return n;
                fileBytesRead_ += *n;
                in_ = { input_.data(), *n, 0 };
                if (*n == 0) {
                    done_ = true;
                    truncated_ = pending_ != 0;
                    break;
                }
            }
            pending_ = ZSTD_decompressStream(stream_.get(), &out, &in_);
            if (ZSTD_isError(pending_) != 0) {
                done_ = true;
                truncated_ = true;
            }
        }
        total_ += out.pos;
        if (Status status = checkRatio(total_); !status)
            return status.error();
        return out.pos;
    }

private:
    File file_;
    std::vector<char> input_;
    std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream_;
    ZSTD_inBuffer in_{ nullptr, 0, 0 };
    std::size_t pending_ = 0;
    bool done_ = false;
    std::uint64_t total_ = 0;
};

} // namespace

Status ByteSource::checkRatio(std::uint64_t written) const
{
    if (written > kNeverABomb && written / kGreatestRatio > fileBytesRead_)
        return Error("decompresses to more than " + std::to_string(kGreatestRatio)
            + " times its size: this is not a trace; decompress it by hand if it is one");
    return Done{};
}

Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path)
{
    File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info { };
    if (::stat(path.c_str(), &info) != 0)
        return Error("open " + path + ": " + std::strerror(errno));
    if (S_ISDIR(info.st_mode))
        return Error("open " + path + ": is a folder, not a file");
    unsigned char magic[4] = { 0, 0, 0, 0 };
    const auto n = file.read(reinterpret_cast<char*>(magic), sizeof magic);
    if (!n)
        return n.error().in("open " + path);
    file.rewind();
    const auto bytes = static_cast<std::uint64_t>(info.st_size);
    std::unique_ptr<ByteSource> source;
    if (magic[0] == 0x1f && magic[1] == 0x8b)
        source = std::make_unique<GzipSource>(std::move(file), bytes);
    else if (magic[0] == 0x28 && magic[1] == 0xb5 && magic[2] == 0x2f && magic[3] == 0xfd)
        source = std::make_unique<ZstdSource>(std::move(file), bytes);
    else
        source = std::make_unique<PlainSource>(std::move(file), bytes);
    return source;
}

Result<std::string> firstBytes(const std::string& path, std::size_t count)
{
    auto source = ByteSource::open(path);
    if (!source)
        return source.error();
    std::string text(count, '\0');
    std::size_t have = 0;
    while (have < count) {
        const auto n = (*source)->read({ text.data() + have, count - have });
        if (!n)
            return n.error().in("read " + path);
        if (*n == 0)
            break;
        have += *n;
    }
    text.resize(have);
    return text;
}

} // namespace rankscope::tracing
