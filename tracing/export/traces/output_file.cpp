#include "tracing/export/traces/output_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kBufferBytes = 1u << 18;
constexpr int kGzipWindow = 15 + 16; ///< largest window, with gzip's header
constexpr int kFast = 3; ///< a third larger than the best, several times as fast

} // namespace

struct OutputFile::Impl {
    std::string path;
    std::string draft;
    int descriptor = -1;
    int error = 0; ///< errno of the first failure
    std::string buffer;
    std::unique_ptr<z_stream> gzip;

    ~Impl()
    {
        if (gzip)
            deflateEnd(gzip.get());
        if (descriptor >= 0) {
            close(descriptor);
            unlink(draft.c_str());
        }
    }

    void writeAll(std::string_view bytes)
    {
        while (!bytes.empty() && error == 0) {
            const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
            if (written < 0 && errno != EINTR)
                error = errno;
            bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(0, written)));
        }
    }

    void compress(std::string_view bytes, int flush)
    {
        char out[1u << 16];
        gzip->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        gzip->avail_in = static_cast<uInt>(bytes.size()); // of a buffer: far below 4 GiB
        do {
            gzip->next_out = reinterpret_cast<Bytef*>(out);
            gzip->avail_out = sizeof out;
            deflate(gzip.get(), flush);
            writeAll({ out, sizeof out - gzip->avail_out });
        } while (gzip->avail_out == 0 && error == 0);
    }

    void flush(bool isEnd)
    {
        if (gzip)
            compress(buffer, isEnd ? Z_FINISH : Z_NO_FLUSH);
        else
            writeAll(buffer);
        buffer.clear();
    }

    Error failure() const { return Error("write " + path + ": " + std::strerror(error)); }
};

OutputFile::OutputFile(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl))
{
}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::create(const std::string& path)
{
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    impl->draft = path + "." + std::to_string(getpid()) + ".exporting";
    impl->descriptor = open(impl->draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (impl->descriptor < 0) {
        impl->error = errno;
        return impl->failure();
    }
    if (path.ends_with(".gz")) {
        impl->gzip = std::make_unique<z_stream>();
        if (deflateInit2(impl->gzip.get(), kFast, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            return Error("write " + path + ": zlib has no memory");
    }
    impl->buffer.reserve(kBufferBytes + 4096);
    return OutputFile(std::move(impl));
}

void OutputFile::write(std::string_view bytes)
{
    if (!good())
        return;
    impl_->buffer += bytes;
    if (impl_->buffer.size() >= kBufferBytes)
        impl_->flush(false);
}

bool OutputFile::good() const { return impl_->error == 0; }

Status OutputFile::finish()
{
    Impl& file = *impl_;
    file.flush(true);
    if (file.error == 0 && (fsync(file.descriptor) != 0 && errno != EINVAL))
        file.error = errno;
    if (file.error == 0 && std::rename(file.draft.c_str(), file.path.c_str()) != 0)
        file.error = errno;
    if (file.error != 0)
        return file.failure();
    close(file.descriptor);
    file.descriptor = -1;
    return Done{};
}

} // namespace rankscope::tracing
