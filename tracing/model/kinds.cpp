#include "tracing/model/kinds.h"

#include <array>
#include <cstddef>

namespace rankscope::tracing {

namespace {

constexpr std::array<std::string_view, 5> kLaneKinds { "compute", "communication", "copy", "host", "counter" };
constexpr std::array<std::string_view, 12> kCollectiveOps { "unknown", "all-reduce", "all-gather", "reduce-scatter",
    "all-to-all", "broadcast", "reduce", "gather", "scatter", "barrier", "send", "receive" };
constexpr std::array<std::string_view, 10> kDimensions { "none", "dp", "tp", "pp", "ep", "cp", "emb", "clip", "outer",
    "world" };
constexpr std::array<std::string_view, 6> kPasses { "none", "forward", "backward", "weight", "recompute", "optimizer" };
constexpr std::array<std::string_view, 13> kRangeKinds { "annotation", "step", "micro-batch", "forward", "backward",
    "optimizer", "data", "checkpoint", "validation", "start", "shutdown", "communication", "recovery" };
constexpr std::array<std::string_view, 3> kBubblePhases { "fill", "steady", "drain" };
constexpr std::array<std::string_view, 7> kDataTypes { "unknown", "fp32", "bf16", "fp16", "fp64", "int8", "fp8" };
constexpr std::array<std::string_view, kSpanClassCount> kSpanClasses { "unattributed", "compute", "transfer", "wait",
    "communication", "bubble", "copy", "host", "launch", "descheduled", "data", "checkpoint", "lost", "start",
    "recompute", "optimizer", "imbalance" };

/// Files may hold numbers from a newer program: they read as "unknown" instead of past the table.
template <std::size_t N, typename Kind>
constexpr std::string_view word(const std::array<std::string_view, N>& words, Kind kind)
{
    const auto index = static_cast<std::size_t>(kind);
    return index < N ? words[index] : std::string_view("unknown");
}

template <typename Kind, std::size_t N>
constexpr std::optional<Kind> parse(const std::array<std::string_view, N>& words, std::string_view text)
{
    for (std::size_t i = 0; i < N; ++i) {
        if (words[i] == text)
            return static_cast<Kind>(i);
    }
    return std::nullopt;
}

} // namespace

std::string_view toString(LaneKind kind) { return word(kLaneKinds, kind); }
std::string_view toString(CollectiveOp op) { return word(kCollectiveOps, op); }
std::string_view toString(Dimension dimension) { return word(kDimensions, dimension); }
std::string_view toString(Pass pass) { return word(kPasses, pass); }
std::string_view toString(RangeKind kind) { return word(kRangeKinds, kind); }
std::string_view toString(BubblePhase phase) { return word(kBubblePhases, phase); }
std::string_view toString(DataType type) { return word(kDataTypes, type); }
std::string_view toString(SpanClass spanClass) { return word(kSpanClasses, spanClass); }

std::optional<CollectiveOp> parseCollectiveOp(std::string_view text) { return parse<CollectiveOp>(kCollectiveOps, text); }
std::optional<Dimension> parseDimension(std::string_view text) { return parse<Dimension>(kDimensions, text); }

} // namespace rankscope::tracing
