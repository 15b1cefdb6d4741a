#pragma once

#include "tracing/model/kinds.h"
#include "tracing/model/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope::tracing {

/// Ids that hold inside one process; the collector maps them to the run's ids.
enum class LocalName : std::uint32_t {}; ///< 0: none
enum class LocalCommunicator : std::uint32_t {};

struct KernelInfo {
    LocalName name{};
    Pass pass = Pass::None;
    DataType dtype = DataType::Float32;
    std::uint16_t threads = 1;
    double flop = 0; ///< arithmetic of this launch; 0: unknown
    double bytes = 0; ///< memory traffic of this launch at least; 0: unknown
    std::optional<std::uint16_t> microBatch{};
    std::uint32_t work = 0; ///< tokens; 0: unknown
    std::uint16_t copies = 1; ///< ranks that do the very same, this one among them
};

/// How much of its work a kernel has done: see KernelInfo.
struct KernelAmount {
    double flop = 0;
    double bytes = 0;
    std::uint32_t work = 0;
};

struct CollectiveInfo {
    LocalName name{};
    CollectiveOp op = CollectiveOp::Unknown;
    LocalCommunicator communicator{};
    std::uint32_t sequence = 0; ///< counts per communicator and op; point-to-point: per (source, destination)
    std::uint64_t bytes = 0; ///< METRICS 4.1, column S
    std::optional<std::int32_t> peer{}; ///< world rank: point-to-point the other side, rooted the root
    std::optional<std::uint16_t> microBatch{};
};

struct RangeInfo {
    LocalName name{};
    RangeKind kind = RangeKind::Annotation;
    std::optional<std::uint32_t> step{};
    std::optional<std::uint16_t> microBatch{};
};

struct BubbleInfo {
    BubblePhase phase = BubblePhase::Fill;
    Pass next = Pass::None; ///< what runs when the wait is over
    std::uint16_t stage = 0;
    std::optional<std::uint16_t> microBatch{};
    std::optional<std::int32_t> awaitedRank{}; ///< world rank
};

class Recorder;
class ThreadRing;

/// An open span of any kind; one 64-byte record is written when it ends. Movable, so that an exchange that overlaps
/// with other work can be carried along. Ends itself when destroyed; end() twice writes once; cancel() writes nothing.
/// Ends on the thread that began it, while the recorder lives. A thread may have 64 open; further ones count as
/// dropped.
class OpenSpan {
public:
    OpenSpan() = default;
    OpenSpan(OpenSpan&& other) noexcept
        : ring_(std::exchange(other.ring_, nullptr))
        , slot_(other.slot_)
    {
    }
    OpenSpan& operator=(OpenSpan&& other) noexcept
    {
        if (this != &other) {
            end();
            ring_ = std::exchange(other.ring_, nullptr);
            slot_ = other.slot_;
        }
        return *this;
    }
    OpenSpan(const OpenSpan&) = delete;
    OpenSpan& operator=(const OpenSpan&) = delete;
    ~OpenSpan() { end(); }

    void end() noexcept
    {
        if (ring_)
            finish(std::exchange(ring_, nullptr), slot_);
    }
    void cancel() noexcept;
    /// Of a kernel: ends it at a moment that has passed, in ticks of Recorder::now(), with what it had done by then.
    void endAt(std::uint64_t ticks, const KernelAmount& done) noexcept;

private:
    friend class Recorder;
    OpenSpan(ThreadRing* ring, std::uint32_t slot) noexcept
        : ring_(ring)
        , slot_(slot)
    {
    }
    static void finish(ThreadRing* ring, std::uint32_t slot) noexcept;

    ThreadRing* ring_ = nullptr; ///< null: recording is off, or the span has ended
    std::uint32_t slot_ = 0;
};

/// Where a process's spans go: a session directory of mapped ring files, one ring a thread, one producer each. Calls
/// may come from any thread. After a fork the child records into rings of its own; what it inherited open is lost.
/// Never blocks, throws, exits or allocates on the path of a span; a full ring drops and counts.
/// Without a session every call is a no-op that costs one branch.
class Recorder {
public:
    struct Options {
        std::string sessionDir; ///< empty: recording is off
        std::int32_t rank = 0;
        std::int32_t worldSize = 1;
        std::int32_t attempt = 0; ///< of the run, counted from 0: a restart is another one
        std::size_t ringBytes = 4u << 20; ///< a thread; shrinks where the session's file system is small
    };
    /// RANKSCOPE_SESSION names the session directory; unset: off. RANKSCOPE_ATTEMPT is the attempt; unset: 0.
    static Options optionsFromEnvironment(std::int32_t rank, std::int32_t worldSize);

    /// Never fails the job: if the session cannot be used, recording is off and one line on standard error says why.
    static std::unique_ptr<Recorder> open(const Options& options);
    ~Recorder();

    bool isOn() const noexcept;

    /// Interns a name. Not for the hot path: intern once, keep the id.
    LocalName name(std::string_view text);
    /// Registers a process group. `members` are world ranks in group order; the same list and name on every rank make
    /// the same communicator in the run.
    LocalCommunicator communicator(
        std::string_view name, Dimension dimension, const std::vector<std::int32_t>& members);
    /// One fact of the run's provenance, such as ("model.layers", "6"). Rank 0 writes the job's, each rank its own.
    void provenance(std::string_view key, std::string_view value);
    /// This rank's coordinates and declared peak; once, before the first span.
    struct RankFacts {
        std::optional<std::int32_t> dp{}, tp{}, pp{}, ep{};
        std::optional<double> peakFlops{}; ///< FLOP/s of the rank's share of the machine
        std::string device; ///< "AMD EPYC, 1 thread"
        std::int32_t threads = 1;
    };
    void describeRank(const RankFacts& facts);

    /// The recording's clock, in its ticks; 0 while recording is off. For the calls that tell of a time later.
    std::uint64_t now() const noexcept;
    std::uint64_t ticksOf(std::chrono::nanoseconds duration) const noexcept; ///< 0 while recording is off
    /// This rank's part of a checkpoint that is published now.
    struct CheckpointInfo {
        std::int64_t step = 0;
        std::uint64_t beginTicks = 0;
        std::int64_t blockedNs = 0; ///< training stood still
        std::int64_t bytes = 0; ///< written by this rank
        std::string path{};
    };
    void checkpoint(const CheckpointInfo& info);
    /// Measured at the start: how fast this rank's messages get to another one.
    void link(std::int32_t to, std::int64_t latencyNs, std::int64_t bytesPerSecond);
    /// The run goes on from the state after that step.
    void restored(std::int64_t step);
    /// The truth about a fault that is injected, for a table that no analysis can read.
    struct FaultInfo {
        std::string kind;
        std::optional<std::int32_t> rank{};
        std::optional<std::int64_t> step{};
        std::uint64_t beginTicks = 0;
        std::uint64_t endTicks = 0; ///< 0: it lasts, or ends with the rank
        std::string detail{}; ///< "key=value ..."
    };
    void fault(const FaultInfo& info);

    [[nodiscard]] OpenSpan kernel(const KernelInfo& info) noexcept;
    [[nodiscard]] OpenSpan collective(const CollectiveInfo& info) noexcept; ///< also point-to-point
    [[nodiscard]] OpenSpan range(const RangeInfo& info) noexcept;
    [[nodiscard]] OpenSpan bubble(const BubbleInfo& info) noexcept;
    void counter(LocalName name, double value) noexcept; ///< name's text ends in its unit: "loss [nats]"

    /// A command from the outside, read at step boundaries: "stop", "checkpoint", "detail 1". Looks at most every 5 ms;
    /// every process of the job sees all commands in order. "detail N" has taken effect when it is returned.
    std::optional<std::string> pollCommand();

private:
    class Impl;
    explicit Recorder(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_; ///< null: recording is off
};

} // namespace rankscope::tracing
