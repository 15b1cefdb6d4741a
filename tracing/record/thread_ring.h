#pragma once

#include "tracing/record/clock.h"
#include "tracing/record/record_words.h"
#include "tracing/record/ring_file.h"
#include "tracing/record/ring_layout.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace rankscope::tracing {

/// The producer's side of one ring. Everything but the constructor belongs to the one thread that records.
class ThreadRing {
public:
    ThreadRing(Mapping mapping, const Calibration& clock);

    /// Puts the record among the open spans; its begin is filled in. Returns its slot, or none where all are taken.
    static constexpr std::uint32_t kNoSlot = kOpenSlots;
    std::uint32_t begin(RecordWords record) noexcept;
    void end(std::uint32_t slot) noexcept;
    /// The thread did something else since `endTicks`.
    void endKernelAt(std::uint32_t slot, std::uint64_t endTicks, const KernelAmount& done) noexcept;
    void cancel(std::uint32_t slot) noexcept;
    /// A record without duration.
    void instant(RecordWords record) noexcept;

    Detail detail() const noexcept { return static_cast<Detail>(header_->detail.load(std::memory_order_relaxed)); }
    void setDetail(Detail detail) noexcept;
    void close() noexcept;
    void detach() noexcept { mapping_.detach(); }

private:
    std::uint64_t* openSlot(std::uint32_t slot) const noexcept { return open_ + std::size_t{ slot } * 8; }
    void publish(const RecordWords& record) noexcept;
    void beginRange(std::uint64_t* open, std::uint32_t slot) noexcept;
    void endRange(const std::uint64_t* open) noexcept;
    void measureCpu(std::uint64_t* open, std::uint64_t endTicks, std::uint64_t nowTicks, std::uint32_t slot) noexcept;
    void finish(std::uint64_t* open, std::uint64_t endTicks, std::uint32_t slot) noexcept;
    std::uint64_t nsOf(std::uint64_t ticks) const noexcept;
    void readCpu(std::uint64_t nowTicks) noexcept;

    Mapping mapping_;
    RingHeader* header_;
    std::uint64_t* open_; ///< the header's open spans, as words
    std::uint64_t* records_; ///< as words
    std::uint64_t mask_;
    std::uint64_t head_ = 0;
    std::uint64_t knownTail_ = 0; ///< the collector's tail when last looked at
    std::uint64_t freeSlots_ = ~std::uint64_t{ 0 };
    std::uint64_t freeDepths_ = ~std::uint64_t{ 0 };
    std::uint64_t longTicks_; ///< 250 us: from here on a kernel's CPU time is read
    double nsPerTick_;
    ClockKind clock_;
    // The chain of CPU time: the last reading and when.
    std::uint64_t cpuTicks_ = 0;
    std::uint64_t cpuNs_ = 0;
    std::array<std::uint64_t, kOpenSlots> beginCpuNs_{}; ///< ranges only
};
static_assert(kOpenSlots == 64, "one bit a slot");

// The path of a span, inline so that a record stays in registers.

inline std::uint32_t ThreadRing::begin(RecordWords record) noexcept
{
    if (freeSlots_ == 0) [[unlikely]] {
        header_->dropped.fetch_add(1, std::memory_order_relaxed);
        return kNoSlot;
    }
    const auto slot = static_cast<std::uint32_t>(std::countr_zero(freeSlots_));
    freeSlots_ &= freeSlots_ - 1;
    std::uint64_t* open = openSlot(slot);
    const std::uint64_t head = std::exchange(record[words::kHead], 0);
    record[words::kBegin] = readTicks(clock_);
    words::store(open, record);
    if (words::kind(head) == RecordKind::Range)
        beginRange(open, slot);
    // The kind is written last and cleared first, so that a reader after a SIGKILL never takes a half-written slot.
    words::store(open[words::kHead], head, std::memory_order_release);
    return slot;
}

inline void ThreadRing::end(std::uint32_t slot) noexcept
{
    std::uint64_t* open = openSlot(slot);
    const std::uint64_t endTicks = readTicks(clock_);
    const bool isRange = words::kind(open[words::kHead]) == RecordKind::Range;
    if (isRange || endTicks - open[words::kBegin] > longTicks_) [[unlikely]]
        measureCpu(open, endTicks, endTicks, slot);
    if (isRange)
        endRange(open);
    finish(open, endTicks, slot);
}

inline void ThreadRing::finish(std::uint64_t* open, std::uint64_t endTicks, std::uint32_t slot) noexcept
{
    RecordWords record = words::load(open);
    record[words::kEnd] = endTicks;
    publish(record);
    words::store(open[words::kHead], 0, std::memory_order_release);
    freeSlots_ |= std::uint64_t{ 1 } << slot;
}

inline void ThreadRing::cancel(std::uint32_t slot) noexcept
{
    std::uint64_t* open = openSlot(slot);
    if (words::kind(open[words::kHead]) == RecordKind::Range)
        endRange(open);
    words::store(open[words::kHead], 0, std::memory_order_release);
    freeSlots_ |= std::uint64_t{ 1 } << slot;
}

inline void ThreadRing::instant(RecordWords record) noexcept
{
    record[words::kBegin] = record[words::kEnd] = readTicks(clock_);
    publish(record);
}

inline void ThreadRing::publish(const RecordWords& record) noexcept
{
    if (head_ - knownTail_ > mask_) [[unlikely]] {
        knownTail_ = header_->tail.load(std::memory_order_acquire);
        if (head_ - knownTail_ > mask_) {
            header_->dropped.fetch_add(1, std::memory_order_relaxed);
            return;
        }
    }
    words::store(records_ + (head_ & mask_) * 8, record);
    header_->head.store(++head_, std::memory_order_release);
    // The ring is larger than the nearest cache: ask for the line that comes a few spans later.
    __builtin_prefetch(records_ + ((head_ + 4) & mask_) * 8, 1);
}

} // namespace rankscope::tracing
