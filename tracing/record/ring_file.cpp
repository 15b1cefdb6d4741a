#include "tracing/record/ring_file.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kLeastRingBytes = 256u << 10;

std::size_t sizeFor(const std::string& dir, std::size_t wanted)
{
    struct statvfs info { };
    std::size_t bytes = std::bit_floor(std::max(wanted, kLeastRingBytes));
    if (statvfs(dir.c_str(), &info) != 0)
        return bytes;
    const std::size_t free = static_cast<std::size_t>(info.f_bavail) * info.f_frsize;
    while (bytes > kLeastRingBytes && bytes > free / 16)
        bytes /= 2;
    return bytes;
}

void writeHeader(void* data, const RingRequest& request, std::size_t recordBytes)
{
    auto* header = new (data) RingHeader{};
    header->version = kRingVersion;
    header->headerBytes = sizeof(RingHeader);
    header->recordBytes = sizeof(Record);
    header->clock = static_cast<std::uint32_t>(request.clock.kind);
    header->capacity = recordBytes / sizeof(Record);
    header->rank = request.rank;
    header->worldSize = request.worldSize;
    header->processId = request.process.processId;
    header->processStart = request.process.start;
    header->threadId = request.threadId;
    header->opened = request.clock.opened;
    header->calibrated = request.clock.calibrated;
    header->detail.store(static_cast<std::uint32_t>(Detail::All), std::memory_order_relaxed);
    header->magic = kRingMagic;
}

Result<Mapping> createIn(const std::string& dir, const RingRequest& request)
{
    const std::string path = dir + "/" + request.fileName;
    const std::string draft = path + ".new";
    const auto failed = [&draft](int error) {
        unlink(draft.c_str());
        return Error("make " + draft + ": " + std::strerror(error));
    };
    const int file = open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return Error("make " + draft + ": " + std::strerror(errno));
    const std::size_t recordBytes = sizeFor(dir, request.ringBytes);
    const std::size_t bytes = sizeof(RingHeader) + recordBytes;
    if (const int error = posix_fallocate(file, 0, static_cast<off_t>(bytes)); error != 0) {
        close(file);
        return failed(error);
    }
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    const int mapError = errno;
    close(file);
    if (data == MAP_FAILED)
        return failed(mapError);
    Mapping mapping(data, bytes);
    writeHeader(data, request, recordBytes);
    if (rename(draft.c_str(), path.c_str()) != 0)
        return failed(errno);
    return mapping;
}

} // namespace

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr))
    , bytes_(std::exchange(other.bytes_, 0))
{
}

Mapping& Mapping::operator=(Mapping&& other) noexcept
{
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

Mapping::~Mapping()
{
    if (data_)
        munmap(data_, bytes_);
}

void Mapping::detach() noexcept
{
    if (data_)
        mmap(data_, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

Result<Mapping> createRing(const RingRequest& request)
{
    auto ring = createIn(request.sessionDir, request);
    if (ring)
        return ring;
    const auto spill = openSpillDir(request.sessionDir);
    if (!spill)
        return ring;
    auto onDisk = createIn(*spill, request);
    if (onDisk)
        std::fprintf(stderr, "rankscope: %s is full: rank %d records to %s\n", request.sessionDir.c_str(), request.rank,
            spill->c_str());
    return onDisk ? std::move(onDisk) : std::move(ring);
}

} // namespace rankscope::tracing
