#pragma once

#include "tracing/model/result.h"
#include "tracing/store/tile.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// Neighbouring cells that share a row of table tile.
inline constexpr int kTileChunkShift = 5;

constexpr std::int64_t tileChunkOf(std::int64_t cell) { return cell >> kTileChunkShift; }
constexpr std::int64_t firstCellOf(std::int64_t chunk) { return chunk * (std::int64_t{ 1 } << kTileChunkShift); }

/// Packs cells of one chunk, ordered by index, into bytes (a cell takes about 10). Numbers are LEB128 varints, `z`
/// zigzag:
///   gap: cells left out since the one before (or since the chunk's first)
///   flags: 1 = spans begin here; 2 = one class covers all of busyNs, its number stands in bits 3 to 7; 4 = the cell is
///   full without 4: busyNs; without 2: number of classes, then of each: number, ns with 1: count, z(longest begin -
///   cell begin), longest duration, longest class flags 2 and 4 without 1: how many more cells with these same flags
///   follow without a gap
std::string encodeTiles(std::span<const Tile> cells);

/// An error where the bytes are no such encoding.
Result<std::vector<Tile>> decodeTiles(LaneId lane, int level, std::int64_t firstCell, std::string_view bytes);

} // namespace rankscope::tracing
