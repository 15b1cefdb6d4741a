#pragma once

#include "app/timeline/core/records.h"
#include "tracing/store/tile.h"

#include <array>
#include <span>
#include <vector>

namespace rankscope::app::timeline {

/// Turns the spans of a lane into draw records: what is narrower than kFoldPx is folded in cells of about kFoldPx that
/// stand still while the view pans. The number of records follows the pixels, never the events.
class SpanFolder {
public:
    explicit SpanFolder(double nsPerPx);

    /// Spans of one level come in the order of their begins. Spans of the same level must not overlap by more than
    /// their own clock noise.
    void add(const SpanRecord& span);

    /// Ends all folds and hands the records over, by begin.
    void finish(LaneContent& content);

private:
    struct Cell {
        FoldRecord fold;
        SpanRecord first; ///< kept so that a fold of one is a span again
        std::array<std::int64_t, tracing::kSpanClassCount> classNs{};
        std::int64_t index = 0;
        bool open = false;
    };

    void close(Cell& cell);

    double nsPerPx_;
    std::int64_t cellNs_;
    std::vector<Cell> cells_; ///< by level
    std::vector<SpanRecord> spans_;
    std::vector<FoldRecord> folds_;
};

/// Level whose cells are about one to four pixels wide; 0 when even the finest are wider.
int tileLevelFor(double nsPerPx);

/// Spans of tiles that are wide enough to be drawn by themselves, each once, by begin.
std::vector<SpanRecord> longSpansOf(std::span<const tracing::Tile> tiles, double nsPerPx);

/// Folds of what tiles hold beside the given long spans. Cells that the long spans explain completely give no fold.
std::vector<FoldRecord> foldsOf(std::span<const tracing::Tile> tiles, std::span<const SpanRecord> longSpans);

/// Lowest, highest and last value of each stretch of about a pixel; the last sample reaches to untilNs.
std::vector<CounterRecord> foldCounter(
    std::span<const tracing::CounterSample> samples, double nsPerPx, std::int64_t untilNs);

/// Puts overlapping spans, ordered by begin, on levels of their own; returns the number of levels (at most maxLevels:
/// the last takes what is left).
int assignLevels(std::span<SpanRecord> spans, int maxLevels);

} // namespace rankscope::app::timeline
