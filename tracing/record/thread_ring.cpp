#include "tracing/record/thread_ring.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr double kLongNs = 250'000;

std::uint64_t* wordsAt(void* base, std::size_t offset)
{
    return reinterpret_cast<std::uint64_t*>(static_cast<char*>(base) + offset);
}

} // namespace

ThreadRing::ThreadRing(Mapping mapping, const Calibration& clock)
    : mapping_(std::move(mapping))
    , header_(static_cast<RingHeader*>(mapping_.data()))
    , open_(wordsAt(mapping_.data(), offsetof(RingHeader, open)))
    , records_(wordsAt(mapping_.data(), sizeof(RingHeader)))
    , mask_(header_->capacity - 1)
    , longTicks_(static_cast<std::uint64_t>(kLongNs / clock.nsPerTick))
    , nsPerTick_(clock.nsPerTick)
    , clock_(clock.kind)
{
}

void ThreadRing::setDetail(Detail detail) noexcept
{
    header_->detail.store(static_cast<std::uint32_t>(detail), std::memory_order_relaxed);
}

void ThreadRing::close() noexcept { header_->closed.store(1, std::memory_order_release); }

std::uint64_t ThreadRing::nsOf(std::uint64_t ticks) const noexcept
{
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * nsPerTick_);
}

void ThreadRing::readCpu(std::uint64_t nowTicks) noexcept
{
    cpuTicks_ = nowTicks;
    cpuNs_ = static_cast<std::uint64_t>(clockNs(CLOCK_THREAD_CPUTIME_ID));
}

/// A range begins with the CPU time of the last reading plus what has passed since, as ranges follow one another
/// closely; only after a longer gap is the clock read again.
void ThreadRing::beginRange(std::uint64_t* open, std::uint32_t slot) noexcept
{
    const auto depth = static_cast<std::uint32_t>(std::min(std::countr_zero(freeDepths_), 63));
    freeDepths_ &= ~(std::uint64_t{ 1 } << depth);
    open[words::kLast] |= std::uint64_t{ depth } << 32;
    const std::uint64_t beginTicks = open[words::kBegin];
    if (beginTicks - cpuTicks_ > longTicks_ / 8)
        readCpu(beginTicks);
    beginCpuNs_[slot] = cpuNs_ + nsOf(beginTicks - cpuTicks_);
}

void ThreadRing::endRange(const std::uint64_t* open) noexcept
{
    freeDepths_ |= std::uint64_t{ 1 } << (open[words::kLast] >> 32 & 63);
}

/// One reading, at the end or a little later. A range knows its begin's; any other long span takes its share of what
/// the thread lost since the last reading, provided that it fills at least half of that time: else the answer would be
/// another span's.
void ThreadRing::measureCpu(
    std::uint64_t* open, std::uint64_t endTicks, std::uint64_t nowTicks, std::uint32_t slot) noexcept
{
    std::uint64_t& head = open[words::kHead];
    const RecordKind kind = words::kind(head);
    const std::uint64_t lastTicks = cpuTicks_, lastCpuNs = cpuNs_;
    readCpu(nowTicks);
    const std::uint64_t wallNs = nsOf(endTicks - open[words::kBegin]);
    if (kind == RecordKind::Range) {
        open[words::kCpu] = std::min(wallNs, cpuNs_ - std::min(cpuNs_, beginCpuNs_[slot]));
        head = words::withFlag(head, kHasCpu);
        return;
    }
    const std::uint64_t sinceNs = nsOf(nowTicks - lastTicks);
    if (lastTicks == 0 || open[words::kBegin] < lastTicks || wallNs < sinceNs / 2 || kind == RecordKind::Bubble)
        return;
    const double ran = std::min(1.0, static_cast<double>(cpuNs_ - lastCpuNs) / static_cast<double>(sinceNs));
    // Workers of a team are not ours to read; the calling thread stands for each of them.
    const double team = kind == RecordKind::Kernel ? words::threads(head) : 1;
    open[words::kCpu] = static_cast<std::uint64_t>(static_cast<double>(wallNs) * ran * team);
    head = words::withFlag(head, kHasCpu);
}

void ThreadRing::endKernelAt(std::uint32_t slot, std::uint64_t endTicks, const KernelAmount& done) noexcept
{
    std::uint64_t* open = openSlot(slot);
    if (endTicks - open[words::kBegin] > longTicks_)
        measureCpu(open, endTicks, readTicks(clock_), slot);
    words::store(open[words::kFlop], std::bit_cast<std::uint64_t>(done.flop));
    words::store(open[words::kBytes], std::bit_cast<std::uint64_t>(done.bytes));
    words::store(open[words::kLast], words::pair(done.work, static_cast<std::uint32_t>(open[words::kLast] >> 32)));
    finish(open, endTicks, slot);
}

} // namespace rankscope::tracing
