#pragma once

#include "tracing/model/ids.h"
#include "tracing/model/kinds.h"
#include "tracing/model/rows.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope::app::timeline {

/// Which table a span comes from.
enum class RowKind : std::uint8_t { Kernel, Copy, HostCall, Collective, Bubble, Range, Ledger };

/// One span that is wide enough to be drawn by itself. Times, not pixels: the same record is drawn at the next zoom
/// while better ones are on their way.
struct SpanRecord {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    RowKind row = RowKind::Kernel;
    tracing::SpanClass spanClass = tracing::SpanClass::Unattributed;
    std::int16_t level = 0; ///< sub-row or nesting depth, 0 on top
    std::int32_t name = -1; ///< index into the dictionary's names; -1: known from a tile only
    tracing::Pass pass = tracing::Pass::None;
    tracing::RangeKind range = tracing::RangeKind::Annotation;
    tracing::BubblePhase phase = tracing::BubblePhase::Fill;
    tracing::CollectiveOp op = tracing::CollectiveOp::Unknown;
    bool overCommunication = false; ///< ledger: communication is hidden under this compute
    bool matched = false; ///< collectives: all ranks' parts are known, so that splitNs means something
    std::int64_t splitNs = 0; ///< matched collectives: end of the wait, begin of the transfer; in [beginNs, endNs]
    std::int64_t instance = -1; ///< collectives
    std::optional<std::int32_t> lateRank; ///< matched collectives: who entered last
    std::int64_t lateNs = 0; ///< last entry - first entry
    std::optional<std::int32_t> peer; ///< bubbles, waits in the ledger: awaited rank; point-to-point: the other rank
    std::optional<std::int32_t> microBatch;
    std::optional<std::int64_t> step;
    std::optional<std::int64_t> flop;
    std::optional<std::int64_t> bytes;
    std::optional<std::int64_t> cpuNs;

    std::int64_t durationNs() const { return endNs - beginNs; }
};

/// Several spans, each narrower than kFoldPx, drawn as one.
struct FoldRecord {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::int64_t count = 0; ///< spans that begin here
    std::int64_t busyNs = 0; ///< covered part of [beginNs, endNs)
    std::int64_t spaceNs = 1; ///< what busyNs is a part of: the fold, or its cell if that is longer
    tracing::SpanClass cover = tracing::SpanClass::Unattributed; ///< what covers most
    std::int16_t level = 0;
    std::int64_t longestBeginNs = 0;
    std::int64_t longestEndNs = 0;
    tracing::SpanClass longestClass = tracing::SpanClass::Unattributed;

    double fullness() const;
};

/// A counter's samples inside one stretch of the canvas.
struct CounterRecord {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    double low = 0;
    double high = 0;
    double last = 0;
};

/// What one lane has to draw for one window at one zoom.
struct LaneContent {
    tracing::LaneId lane{};
    tracing::Window window;
    double nsPerPx = 1;
    std::vector<SpanRecord> spans; ///< by begin
    std::vector<FoldRecord> folds; ///< by begin
    std::vector<CounterRecord> samples; ///< by begin
    double lowest = 0; ///< counters, over the whole run
    double highest = 0;
    int levels = 1;
    bool fromTiles = false;
};

inline constexpr double kFoldPx = 3; ///< spans narrower than this are folded

} // namespace rankscope::app::timeline
