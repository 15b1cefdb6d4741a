#pragma once

#include "tracing/record/recorder.h"
#include "tracing/record/ring_layout.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace rankscope::tracing {

// A Record as the eight 64-bit words that the writer stores. Written field by field and copied wide, each copy would
// wait some 10 ns for the narrow stores (no store forwarding); words of one size on both sides cost nothing.

using RecordWords = std::array<std::uint64_t, 8>;
static_assert(std::endian::native == std::endian::little, "the ring's layout is little endian");

namespace words {

inline constexpr std::size_t kBegin = 0, kEnd = 1, kHead = 2, kName = 3, kFlop = 4, kBytes = 5, kCpu = 6, kLast = 7;
static_assert(offsetof(Record, kind) == 8 * kHead && offsetof(Record, name) == 8 * kName);
static_assert(offsetof(Record, kernel.flop) == 8 * kFlop && offsetof(Record, kernel.bytes) == 8 * kBytes
    && offsetof(Record, kernel.work) == 8 * kLast);
static_assert(offsetof(Record, kernel.cpuNs) == 8 * kCpu && offsetof(Record, collective.cpuNs) == 8 * kCpu
    && offsetof(Record, range.cpuNs) == 8 * kCpu);
static_assert(offsetof(Record, range.depth) == 8 * kLast + 4 && offsetof(Record, bubble.stage) == 8 * kLast + 4);

constexpr std::uint64_t pair(std::uint32_t low, std::uint32_t high) { return low | std::uint64_t{ high } << 32; }

template <typename Kind>
constexpr std::uint64_t head(RecordKind kind, Kind detail, std::uint8_t flags, std::optional<std::uint16_t> microBatch)
{
    const std::uint8_t all = microBatch ? flags | kHasMicroBatch : flags;
    return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(detail) << 8 | std::uint64_t{ all } << 24
        | std::uint64_t{ microBatch.value_or(0) } << 32;
}

constexpr RecordKind kind(std::uint64_t headWord) { return static_cast<RecordKind>(headWord & 0xff); }
constexpr std::uint64_t withFlag(std::uint64_t headWord, std::uint8_t flag)
{
    return headWord | std::uint64_t{ flag } << 24;
}
constexpr std::uint16_t threads(std::uint64_t headWord) { return static_cast<std::uint16_t>(headWord >> 48); }

inline void store(
    std::uint64_t& word, std::uint64_t value, std::memory_order order = std::memory_order_relaxed) noexcept
{
    std::atomic_ref<std::uint64_t>(word).store(value, order);
}

inline void store(std::uint64_t* words, const RecordWords& record) noexcept
{
#pragma GCC unroll 8
    for (std::size_t i = 0; i < record.size(); ++i)
        store(words[i], record[i]);
}

inline RecordWords load(std::uint64_t* words) noexcept
{
    RecordWords record;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < record.size(); ++i)
        record[i] = std::atomic_ref<std::uint64_t>(words[i]).load(std::memory_order_relaxed);
    return record;
}

} // namespace words

constexpr RecordWords wordsOf(const KernelInfo& info)
{
    const std::uint64_t head = words::head(RecordKind::Kernel, info.pass, 0, info.microBatch)
        | static_cast<std::uint64_t>(info.dtype) << 16 | std::uint64_t{ info.threads } << 48;
    return { 0, 0, head, static_cast<std::uint32_t>(info.name), std::bit_cast<std::uint64_t>(info.flop),
        std::bit_cast<std::uint64_t>(info.bytes), 0, words::pair(info.work, info.copies) };
}

constexpr RecordWords wordsOf(const CollectiveInfo& info)
{
    const std::uint64_t head
        = words::head(RecordKind::Collective, info.op, info.peer ? kHasPeer : std::uint8_t{ 0 }, info.microBatch);
    return { 0, 0, head, static_cast<std::uint32_t>(info.name), info.bytes,
        words::pair(static_cast<std::uint32_t>(info.communicator), info.sequence), 0,
        static_cast<std::uint32_t>(info.peer.value_or(0)) };
}

constexpr RecordWords wordsOf(const RangeInfo& info)
{
    const std::uint64_t head
        = words::head(RecordKind::Range, info.kind, info.step ? kHasStep : std::uint8_t{ 0 }, info.microBatch);
    return { 0, 0, head, static_cast<std::uint32_t>(info.name), 0, 0, 0, info.step.value_or(0) };
}

constexpr RecordWords wordsOf(const BubbleInfo& info)
{
    const std::uint64_t head
        = words::head(RecordKind::Bubble, info.phase, info.awaitedRank ? kHasPeer : std::uint8_t{ 0 }, info.microBatch);
    const std::uint32_t place = info.stage | static_cast<std::uint32_t>(info.next) << 16;
    return { 0, 0, head, 0, 0, 0, 0, words::pair(static_cast<std::uint32_t>(info.awaitedRank.value_or(0)), place) };
}

constexpr RecordWords wordsOfCounter(LocalName name, double value)
{
    return { 0, 0, static_cast<std::uint64_t>(RecordKind::Counter), static_cast<std::uint32_t>(name), 0, 0, 0,
        std::bit_cast<std::uint64_t>(value) };
}

} // namespace rankscope::tracing
