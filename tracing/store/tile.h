#pragma once

#include "tracing/model/ids.h"
#include "tracing/model/kinds.h"
#include "tracing/model/rows.h"

#include <array>
#include <cstdint>

namespace rankscope::tracing {

/// Level of detail for drawing: what lies in one cell of a lane. Level k has cells of kTileBaseNs << (kTileLevelShift *
/// k) ns; cell i covers [i, i + 1) times that. A span that crosses cells counts its part in each.
struct Tile {
    LaneId lane{};
    std::int32_t level = 0;
    std::int64_t index = 0;
    std::int32_t count = 0; ///< spans that begin in the cell
    std::int64_t busyNs = 0; ///< union of the spans' parts in the cell
    std::array<std::int64_t, kSpanClassCount> classNs{}; ///< busyNs by what covers it
    std::int64_t longestBeginNs = 0; ///< the longest span that begins in the cell, whole
    std::int64_t longestEndNs = 0;
    SpanClass longestClass = SpanClass::Unattributed;
};

inline constexpr int kTileBaseShift = 20;
inline constexpr std::int64_t kTileBaseNs = std::int64_t{ 1 } << kTileBaseShift; ///< 1.05 ms: below, rows are few
inline constexpr int kTileLevelShift = 2; ///< each level is 4 times coarser
inline constexpr int kTileLevels = 12; ///< the coarsest cell lasts 73 min

/// Neighbouring cells that share a row of table tile.
inline constexpr int kTileChunkShift = 5;
inline constexpr std::int64_t kTileChunk = std::int64_t{ 1 } << kTileChunkShift;

constexpr std::int64_t tileChunkOf(std::int64_t cell) { return cell >> kTileChunkShift; }
constexpr std::int64_t firstCellOf(std::int64_t chunk) { return chunk * kTileChunk; }

constexpr std::int64_t tileWidthNs(int level) { return kTileBaseNs << (kTileLevelShift * level); }

} // namespace rankscope::tracing
