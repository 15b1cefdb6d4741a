#pragma once

#include "tracing/model/kinds.h"
#include "tracing/model/result.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace rankscope::tracing {

enum class SourceKind : std::uint8_t { Kernel, Copy, HostCall, Range, Counter, Bubble };

/// One event of a file, 56 bytes. What `extra` is depends on the kind: copy: bytes; range: step number; counter: bits
/// of a double; kernel: number in SourceTrace::kernelFacts; bubble: awaited rank.
struct SourceEvent {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::int64_t correlation = kNone;
    std::int64_t extra = kNone;
    std::int64_t cpuNs = kNone; ///< of kernels and ranges
    std::uint32_t lane = 0;
    std::uint32_t name = 0; ///< into SourceTrace::strings
    SourceKind kind = SourceKind::Range;
    RangeKind range = RangeKind::Annotation;
    Pass pass = Pass::None;
    BubblePhase phase = BubblePhase::Fill;
    std::int32_t microBatch = -1;

    static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
};
static_assert(sizeof(SourceEvent) == 56);

/// Holds the events of one file by lane, in order of begin, in bounded memory: runs of events are sorted and, beyond
/// the budget, moved to an unlinked temporary file, which is read in pieces and never mapped.
class EventSpool {
public:
    /// `memoryBytes`: what may stay in memory; one run is a quarter of it.
    explicit EventSpool(std::size_t memoryBytes = 48u << 20);
    EventSpool(const EventSpool&) = delete;
    EventSpool& operator=(const EventSpool&) = delete;
    ~EventSpool();

    void append(const SourceEvent& event)
    {
        current_.push_back(event);
        ++count_;
        if (count_ % kSampling == 1)
            sample_.push_back(event.beginNs);
        if (current_.size() >= runEvents_)
            closeRun();
    }
    std::size_t count() const { return count_; }
    /// Begins of some of the events, spread over the file.
    const std::vector<std::int64_t>& sample() const { return sample_; }

    /// First error of the temporary file (a full disk); the spool then holds what came before.
    const std::optional<Error>& error() const { return error_; }

    using Visitor = std::function<Status(std::span<const SourceEvent>)>;
    /// Hands out the lane's events in order of begin (longer first where begins are equal), some thousands a call.
    Status visit(std::uint32_t lane, const Visitor& visitor) const;
    /// First and last begin within the bounds; none: no event there. After close().
    std::optional<std::pair<std::int64_t, std::int64_t>> extent(std::int64_t lowest, std::int64_t highest) const;
    /// Ends the last run: call before visiting.
    void close();

    std::size_t bytesInMemory() const { return inMemory_; }
    /// After close(): moves what is in memory to the file, where there is room, for others to have the memory.
    void moveToFile();

private:
    struct LanePlace {
        std::uint32_t lane = 0;
        std::size_t first = 0; ///< event of the run
        std::int64_t firstBeginNs = 0, lastBeginNs = 0;
    };
    struct Run {
        std::size_t count = 0;
        std::vector<SourceEvent> memory; ///< empty: in the file
        std::int64_t offset = 0; ///< in the file
        std::vector<LanePlace> lanes; ///< by lane
    };
    class Cursor;

    void closeRun();
    Status spill(Run& run);
    /// The lane's place in the run, first event and one after the last.
    static std::pair<std::size_t, std::size_t> placeOf(const Run& run, const LanePlace& lane);
    Status read(const Run& run, std::size_t first, std::span<SourceEvent> out) const;
    std::int64_t beginAt(const Run& run, std::size_t event) const;
    /// The first event of the stretch that begins at or after the time, or its end.
    std::size_t firstFrom(const Run& run, std::size_t first, std::size_t end, std::int64_t beginNs) const;

    std::size_t memoryBytes_;
    std::size_t runEvents_;
    std::size_t count_ = 0;
    static constexpr std::size_t kSampling = 64;
    std::vector<std::int64_t> sample_;
    std::size_t inMemory_ = 0;
    std::vector<SourceEvent> current_;
    std::vector<Run> runs_;
    int file_ = -1;
    std::int64_t fileBytes_ = 0;
    std::optional<Error> error_;
};

} // namespace rankscope::tracing
