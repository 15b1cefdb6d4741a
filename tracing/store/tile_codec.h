#pragma once

#include "tracing/model/result.h"
#include "tracing/store/tile.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// Packs cells of one chunk, ordered by index, into bytes (a cell takes about 10). Numbers are LEB128 varints, `z`
/// zigzag:
///   gap: cells left out since the one before (or since the chunk's first)
///   flags: 1 = spans begin here; 2 = one class covers all of busyNs, its number stands in bits 3 to 7; 4 = the cell is
///   full without 4: busyNs; without 2: number of classes, then of each: number, ns with 1: count, z(longest begin -
///   cell begin), longest duration, longest class flags 2 and 4 without 1: how many more cells with these same flags
///   follow without a gap
std::string encodeTiles(std::span<const Tile> cells);
/// The same into a buffer that can be used again.
std::string_view encodeTiles(std::span<const Tile> cells, std::vector<char>& buffer);

/// An error where the bytes are no such encoding.
Result<std::vector<Tile>> decodeTiles(LaneId lane, int level, std::int64_t firstCell, std::string_view bytes);

} // namespace rankscope::tracing
