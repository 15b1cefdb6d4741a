#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rankscope::tracing {

// The numbers are stored in files: append only, never renumber.

enum class LaneKind : std::uint8_t { Compute = 0, Communication = 1, Copy = 2, Host = 3, Counter = 4 };

enum class CollectiveOp : std::uint8_t {
    Unknown = 0,
    AllReduce = 1,
    AllGather = 2,
    ReduceScatter = 3,
    AllToAll = 4,
    Broadcast = 5,
    Reduce = 6,
    Gather = 7,
    Scatter = 8,
    Barrier = 9,
    Send = 10, ///< point-to-point; its partner is a Receive of the peer
    Receive = 11,
};
constexpr bool isPointToPoint(CollectiveOp op) { return op == CollectiveOp::Send || op == CollectiveOp::Receive; }

/// What a process group is for.
enum class Dimension : std::uint8_t {
    None = 0,
    Data = 1,
    Tensor = 2,
    Pipeline = 3,
    Expert = 4,
    Context = 5,
    Embedding = 6, ///< gradients of tied embeddings
    Clip = 7, ///< gradient norm over all ranks
    Outer = 8, ///< DiLoCo's outer step
    World = 9, ///< all ranks: set-up, barriers, metrics
};

enum class Pass : std::uint8_t { None = 0, Forward = 1, Backward = 2, Weight = 3, Recompute = 4, Optimizer = 5 };

enum class RangeKind : std::uint8_t {
    Annotation = 0,
    Step = 1,
    MicroBatch = 2,
    Forward = 3,
    Backward = 4,
    Optimizer = 5,
    Data = 6, ///< waits for or prepares training data
    Checkpoint = 7, ///< blocking
    Validation = 8,
    Start = 9, ///< before the first step: init, warm-up, calibration
    Shutdown = 10,
    Communication = 11, ///< the host side of an exchange, such as gradient buckets
    Recovery = 12,
};

enum class BubblePhase : std::uint8_t { Fill = 0, Steady = 1, Drain = 2 };

enum class DataType : std::uint8_t { Unknown = 0, Float32 = 1, BFloat16 = 2, Float16 = 3, Float64 = 4, Int8 = 5, Float8 = 6 };

/// What covers a stretch of a lane, for colours and tiles. Letters, colours and patterns: LOOK, section 3.
enum class SpanClass : std::uint8_t {
    Unattributed = 0,
    Compute = 1,
    Transfer = 2,
    Wait = 3,
    Communication = 4, ///< not split in wait and transfer (not matched yet, or ranks absent)
    Bubble = 5,
    Copy = 6,
    Host = 7,
    Launch = 8,
    Descheduled = 9,
    Data = 10,
    Checkpoint = 11,
    Lost = 12,
    Start = 13,
    Recompute = 14,
    Optimizer = 15,
    Imbalance = 16,
};
inline constexpr int kSpanClassCount = 17;

/// Words as they stand in reports and files: "all-reduce", "dp", "forward", "fill", ...
std::string_view toString(LaneKind kind);
std::string_view toString(CollectiveOp op);
std::string_view toString(Dimension dimension);
std::string_view toString(Pass pass);
std::string_view toString(RangeKind kind);
std::string_view toString(BubblePhase phase);
std::string_view toString(DataType type);
std::string_view toString(SpanClass spanClass);

std::optional<CollectiveOp> parseCollectiveOp(std::string_view word);
std::optional<Dimension> parseDimension(std::string_view word);

} // namespace rankscope::tracing
