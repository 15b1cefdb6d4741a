#include "tracing/collector/ring_reader.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr std::int32_t kMostRanks = 1 << 20;

Result<Mapping> mapRing(const std::string& path)
{
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return Error(std::strerror(errno));
    struct stat info { };
    const bool isRing = fstat(file, &info) == 0 && S_ISREG(info.st_mode)
        && static_cast<std::size_t>(info.st_size) >= sizeof(RingHeader);
    void* data = isRing
        ? mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        : MAP_FAILED;
    ::close(file);
    if (!isRing)
        return Error("shorter than a ring's header");
    if (data == MAP_FAILED)
        return Error(std::strerror(errno));
    return Mapping(data, static_cast<std::size_t>(info.st_size));
}

Status check(const RingHeader& header, std::size_t fileBytes)
{
    if (header.magic != kRingMagic)
        return Error("no ring file");
    if (header.version != kRingVersion)
        return Error("ring version " + std::to_string(header.version) + ", this program reads "
            + std::to_string(kRingVersion) + ": use the collector that belongs to the recorder");
    if (header.headerBytes != sizeof(RingHeader) || header.recordBytes != sizeof(Record))
        return Error("sizes of header and records are not those of version " + std::to_string(kRingVersion));
    if (!std::has_single_bit(header.capacity) || header.capacity > (fileBytes - sizeof(RingHeader)) / sizeof(Record))
        return Error("capacity of " + std::to_string(header.capacity) + " records does not fit the file");
    if (header.worldSize < 1 || header.worldSize > kMostRanks || header.rank < 0 || header.rank >= header.worldSize)
        return Error("rank " + std::to_string(header.rank) + " of " + std::to_string(header.worldSize));
    if (header.clock != static_cast<std::uint32_t>(ClockKind::Tsc)
        && header.clock != static_cast<std::uint32_t>(ClockKind::MonotonicNs))
        return Error("unknown clock " + std::to_string(header.clock));
    return Done{};
}

} // namespace

Result<RingReader> RingReader::open(const std::string& path)
{
    auto mapping = mapRing(path);
    if (!mapping)
        return mapping.error().in("ring " + path);
    if (const Status good = check(*static_cast<const RingHeader*>(mapping->data()), mapping->bytes()); !good)
        return good.error().in("ring " + path);
    return RingReader(path, std::move(*mapping));
}

RingReader::RingReader(std::string path, Mapping mapping)
    : path_(std::move(path))
    , name_(path_.substr(path_.rfind('/') + 1))
    , mapping_(std::move(mapping))
    , capacity_(header().capacity)
    , rank_(header().rank)
    , worldSize_(header().worldSize)
    , process_{ header().processId, header().processStart }
{
    // The file may still change under us: a capacity that did so after the check must not count.
    const std::size_t room = (mapping_.bytes() - sizeof(RingHeader)) / sizeof(Record);
    capacity_ = std::min(std::bit_floor(std::max<std::uint64_t>(capacity_, 1)), std::bit_floor(room));
}

std::string RingReader::recorderKey() const { return name_.substr(0, name_.rfind('-')); }

std::uint32_t RingReader::number() const
{
    std::uint32_t value = 0;
    const std::size_t at = name_.rfind('-');
    if (at != std::string::npos)
        std::from_chars(name_.data() + at + 1, name_.data() + name_.size(), value);
    return value;
}

std::optional<Calibration> RingReader::calibration() const
{
    const RingHeader& from = header();
    Calibration result{ static_cast<ClockKind>(from.clock), from.opened, from.calibrated, 0 };
    result.nsPerTick = tracing::nsPerTick(result.opened, result.calibrated);
    return result.nsPerTick > 0 ? std::optional(result) : std::nullopt;
}

const Record& RingReader::slot(std::uint64_t number) const
{
    const auto* records
        = reinterpret_cast<const Record*>(static_cast<const char*>(mapping_.data()) + sizeof(RingHeader));
    return records[number & (capacity_ - 1)];
}

std::uint64_t RingReader::waiting() const
{
    return std::min(header().head.load(std::memory_order_acquire) - position_, capacity_);
}

std::uint64_t RingReader::read(std::vector<Record>& out, std::size_t most)
{
    const std::uint64_t head = header().head.load(std::memory_order_acquire);
    std::uint64_t skipped = 0;
    if (head - position_ > capacity_) {
        skipped = head > position_ ? head - position_ : 1;
        position_ = head;
    }
    const std::uint64_t end = position_ + std::min<std::uint64_t>(head - position_, most);
    while (position_ != end) {
        const std::uint64_t at = position_ & (capacity_ - 1);
        const std::uint64_t count = std::min(end - position_, capacity_ - at);
        const Record* first = &slot(position_);
        out.insert(out.end(), first, first + count);
        position_ += count;
    }
    return skipped;
}

void RingReader::release() { header().tail.store(position_, std::memory_order_release); }

std::vector<Record> RingReader::openSpans() const
{
    std::vector<Record> result;
    for (const Record& open : header().open) {
        if (open.kind != static_cast<std::uint8_t>(RecordKind::Empty))
            result.push_back(open);
    }
    // Killed between publishing a record and clearing its slot: it is in both places.
    if (position_ > 0) {
        const Record& last = slot(position_ - 1);
        std::erase_if(result,
            [&last](const Record& open) { return open.beginTicks == last.beginTicks && open.kind == last.kind; });
    }
    std::sort(
        result.begin(), result.end(), [](const Record& a, const Record& b) { return a.beginTicks < b.beginTicks; });
    return result;
}

} // namespace rankscope::tracing
