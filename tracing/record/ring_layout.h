#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rankscope::tracing {

// The ring file of one thread, as writer and collector both map it: one RingHeader, then `capacity` Records.
// Record number n lies in slot n % capacity; [tail, head) are written and not yet taken. The writer owns every field
// but tail and detail. What a reader finds here may come from a dying or hostile process: it checks every number it
// uses.

inline constexpr std::uint64_t kRingMagic = 0x31474e4952534b52; ///< "RKSRING1"
inline constexpr std::uint32_t kRingVersion = 1;
inline constexpr std::size_t kOpenSlots = 64; ///< spans a thread may have open at once
inline constexpr const char* kRingSuffix = ".ring";
inline constexpr const char* kFactsSuffix = ".facts";

enum class ClockKind : std::uint32_t { Tsc = 1, MonotonicNs = 2 };

/// One instant on three clocks: what ticks mean.
struct ClockPair {
    std::uint64_t ticks = 0;
    std::int64_t monotonicNs = 0;
    std::int64_t realtimeNs = 0; ///< since 1970
};

enum class RecordKind : std::uint8_t { Empty = 0, Kernel = 1, Collective = 2, Bubble = 3, Range = 4, Counter = 5 };

/// How much is recorded; the collector may change it while the run goes on.
enum class Detail : std::uint32_t { Off = 0, Coarse = 1, All = 2 }; ///< Coarse: everything but kernels

// Bits of Record::flags: which optional fields hold something.
inline constexpr std::uint8_t kHasMicroBatch = 1;
inline constexpr std::uint8_t kHasPeer = 2; ///< collective: peer; bubble: awaited rank
inline constexpr std::uint8_t kHasStep = 4;
inline constexpr std::uint8_t kHasCpu = 8;

struct KernelPayload {
    double flop;
    double bytes;
    std::uint64_t cpuNs; ///< of the whole team: the launching thread's, times threads
    std::uint32_t work;
    std::uint32_t copies; ///< ranks that do the same; 0 in files of older recorders
};
struct CollectivePayload {
    std::uint64_t bytes;
    std::uint32_t communicator; ///< LocalCommunicator
    std::uint32_t sequence;
    std::uint64_t cpuNs;
    std::int32_t peer;
    std::uint32_t unused;
};
struct BubblePayload {
    std::uint64_t unused[3];
    std::int32_t awaitedRank;
    std::uint16_t stage;
    std::uint8_t next; ///< Pass
    std::uint8_t unusedByte;
};
struct RangePayload {
    std::uint64_t unused[2];
    std::uint64_t cpuNs;
    std::uint32_t step;
    std::uint32_t depth; ///< nesting of ranges on this thread, 0 outermost
};
struct CounterPayload {
    std::uint64_t unused[3];
    double value;
};

/// One span, written when it ends; a counter has beginTicks == endTicks. The writer stores it as eight words
/// (record_words.h), readers copy it out and look at the fields.
struct alignas(64) Record {
    std::uint64_t beginTicks;
    std::uint64_t endTicks;
    std::uint8_t kind; ///< RecordKind
    std::uint8_t detail; ///< kernel: Pass, collective: CollectiveOp, bubble: BubblePhase, range: RangeKind
    std::uint8_t dtype; ///< kernel: DataType
    std::uint8_t flags;
    std::uint16_t microBatch;
    std::uint16_t threads; ///< kernel
    std::uint32_t name; ///< LocalName
    std::uint32_t unused;
    union {
        KernelPayload kernel;
        CollectivePayload collective;
        BubblePayload bubble;
        RangePayload range;
        CounterPayload counter;
    };
};
static_assert(sizeof(Record) == 64);

struct RingHeader {
    // Written once, before the file gets its name.
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t headerBytes;
    std::uint32_t recordBytes;
    std::uint32_t clock; ///< ClockKind
    std::uint64_t capacity; ///< records; a power of two
    std::int32_t rank;
    std::int32_t worldSize;
    std::int32_t processId;
    std::int32_t threadId;
    std::uint64_t processStart; ///< field 22 of /proc/PID/stat: tells the writer from a later process with its id
    ClockPair opened;
    ClockPair calibrated; ///< a second instant, at least 2 ms after `opened`

    // Written by the thread as it goes.
    alignas(64) std::atomic<std::uint64_t> head;
    std::atomic<std::uint64_t> dropped; ///< records that found the ring full
    std::atomic<std::uint32_t> closed; ///< 1: the thread has ended or the recorder was closed

    // Written by the collector.
    alignas(64) std::atomic<std::uint64_t> tail;
    std::atomic<std::uint32_t> detail; ///< Detail

    /// Spans that have begun and not ended, in no order; kind Empty: free. After a SIGKILL they say where the rank was.
    Record open[kOpenSlots];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(offsetof(RingHeader, open) % 64 == 0);

} // namespace rankscope::tracing
