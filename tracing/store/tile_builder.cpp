#include "tracing/store/tile_builder.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kKeptChunks = 8; ///< a lane and level
constexpr std::int64_t kRunCells = 64; ///< of the finest level: from here on a stretch is a run

std::int64_t cellOf(std::int64_t ns, int level)
{
    // A shift rounds down, also before the origin.
    return (ns >> kTileBaseShift) >> (kTileLevelShift * level);
}

Tile coveredTile(LaneId lane, int level, std::int64_t index, Window span, SpanClass spanClass)
{
    Tile tile;
    tile.lane = lane;
    tile.level = level;
    tile.index = index;
    const std::int64_t widthNs = tileWidthNs(level);
    tile.busyNs = std::min(span.endNs, (index + 1) * widthNs) - std::max(span.beginNs, index * widthNs);
    tile.classNs[static_cast<std::size_t>(spanClass)] = tile.busyNs;
    return tile;
}

bool byIndex(const Tile& a, const Tile& b) { return a.index < b.index; }

/// Adds a tile to additions that are ordered by index.
void mergeInto(std::vector<Tile>& additions, const Tile& tile)
{
    const auto at = std::lower_bound(additions.begin(), additions.end(), tile, byIndex);
    if (at != additions.end() && at->index == tile.index)
        addTo(*at, tile);
    else
        additions.insert(at, tile);
}

/// The same additions one level coarser, in their place; ordered by index.
void coarsen(std::vector<Tile>& additions)
{
    std::size_t kept = 0;
    for (std::size_t i = 0; i < additions.size(); ++i) {
        const std::int64_t index = additions[i].index >> kTileLevelShift;
        if (i > 0 && additions[kept].index == index) {
            addTo(additions[kept], additions[i]);
            continue;
        }
        kept += i > 0 ? 1 : 0;
        if (kept != i)
            additions[kept] = additions[i];
        additions[kept].index = index;
        ++additions[kept].level;
    }
    additions.resize(additions.empty() ? 0 : kept + 1);
}

} // namespace

int TileBuilder::Chunk::count() const { return std::popcount(present); }

void TileBuilder::Chunk::add(const Tile& tile)
{
    const auto bit = std::uint32_t{ 1 } << (tile.index & (kTileChunk - 1));
    Tile* place = cells.data() + std::popcount(present & (bit - 1));
    if (present & bit) {
        addTo(*place, tile);
        return;
    }
    std::move_backward(place, cells.data() + count(), cells.data() + count() + 1);
    *place = tile;
    present |= bit;
}

TileBuilder::LaneTiles& TileBuilder::of(LaneId lane)
{
    if (!lastTiles_ || lastLane_ != lane) {
        lastTiles_ = &lanes_.try_emplace(lane, lane).first->second;
        lastLane_ = lane;
    }
    return *lastTiles_;
}

void TileBuilder::addPart(LaneTiles& tiles, const Part& part)
{
    if (part.window.durationNs() >= kRunCells * kTileBaseNs) {
        tiles.runs.push_back(part);
        return;
    }
    for (std::int64_t beginNs = part.window.beginNs; beginNs < part.window.endNs;) {
        const std::int64_t index = cellOf(beginNs, 0);
        const std::int64_t endNs = std::min(part.window.endNs, (index + 1) * kTileBaseNs);
        Tile& tile = tiles.fresh.at(index);
        tile.busyNs += endNs - beginNs;
        tile.classNs[static_cast<std::size_t>(part.spanClass)] += endNs - beginNs;
        beginNs = endNs;
    }
}

void TileBuilder::add(LaneId lane, Window span, SpanClass spanClass, std::span<const Part> split)
{
    LaneTiles& tiles = of(lane);
    Tile& begin = tiles.fresh.at(cellOf(span.beginNs, 0));
    if (begin.count == 0 || span.durationNs() > begin.longestEndNs - begin.longestBeginNs) {
        begin.longestBeginNs = span.beginNs;
        begin.longestEndNs = span.endNs;
        begin.longestClass = spanClass;
    }
    ++begin.count;

    scratch_.clear();
    tiles.covered.add(span, scratch_);
    for (const Window& fresh : scratch_) {
        if (split.empty())
            addPart(tiles, { fresh, spanClass });
        for (const Part& part : split) {
            const Window both{ std::max(fresh.beginNs, part.window.beginNs), std::min(fresh.endNs, part.window.endNs) };
            addPart(tiles, { both, part.spanClass });
        }
    }
}

void TileBuilder::remember(LaneId lane, Window span)
{
    scratch_.clear();
    of(lane).covered.add(span, scratch_);
}

void TileBuilder::setKnownEnd(LaneId lane, std::int64_t endNs)
{
    for (int level = 0; level < kTileLevels; ++level)
        of(lane).levels[static_cast<std::size_t>(level)].knownChunk = tileChunkOf(cellOf(endNs, level));
}

Status TileBuilder::flush(const Put& put)
{
    for (auto& [lane, tiles] : lanes_) {
        if (tiles.fresh.empty())
            continue;
        if (const Status flushed = flushLane(lane, tiles, put); !flushed)
            return flushed;
    }
    return Done{};
}

Status TileBuilder::flushLane(LaneId lane, LaneTiles& tiles, const Put& put)
{
    std::vector<Tile>& gathered = tiles.fresh.ordered();
    for (int number = 0; number < kTileLevels; ++number) {
        Level& level = tiles.levels[static_cast<std::size_t>(number)];
        std::span<const Tile> additions = gathered;
        if (!tiles.runs.empty()) {
            additions_ = gathered;
            for (const Part& run : tiles.runs) {
                if (const Status done = putRun(lane, number, level, run, additions_, put); !done)
                    return done;
            }
            additions = additions_;
        }
        if (const Status done = apply(level, additions, put); !done)
            return done;
        coarsen(gathered);
    }
    tiles.fresh.clear();
    tiles.runs.clear();
    return Done{};
}

/// The cells of a run in chunks that it does not fill, or that something else touches, become additions. The other
/// chunks hold nothing but this run, in the file as well: they are put as they are.
Status TileBuilder::putRun(
    LaneId lane, int number, const Level& level, const Part& run, std::vector<Tile>& additions, const Put& put)
{
    const std::int64_t first = cellOf(run.window.beginNs, number);
    const std::int64_t last = cellOf(run.window.endNs - 1, number);
    const auto tile = [&](std::int64_t index) { return coveredTile(lane, number, index, run.window, run.spanClass); };
    if (last - first > kMostPlainTiles) {
        mergeInto(additions, tile(first));
        mergeInto(additions, tile(last));
        return Done{};
    }
    std::vector<Tile> plain;
    for (std::int64_t chunk = tileChunkOf(first); chunk <= tileChunkOf(last); ++chunk) {
        const std::int64_t begin = std::max(first, firstCellOf(chunk));
        const std::int64_t end = std::min(last + 1, firstCellOf(chunk + 1));
        const auto touched = std::lower_bound(additions.begin(), additions.end(), begin,
            [](const Tile& addition, std::int64_t index) { return addition.index < index; });
        const bool isTouched = (touched != additions.end() && touched->index < end) || find(level, chunk);
        const bool isFilled = firstCellOf(chunk) > first && firstCellOf(chunk + 1) <= last;
        if (isTouched || !isFilled) {
            for (std::int64_t index = begin; index < end; ++index)
                mergeInto(additions, tile(index));
            continue;
        }
        plain.clear();
        for (std::int64_t index = begin; index < end; ++index)
            plain.push_back(tile(index));
        if (const Status done = put(plain); !done)
            return done;
    }
    return Done{};
}

Status TileBuilder::apply(Level& level, std::span<const Tile> additions, const Put& put)
{
    if (const Status loaded = loadMissing(level, additions); !loaded)
        return loaded;
    for (std::size_t i = 0; i < additions.size();) {
        Chunk& chunk = findOrMake(level, tileChunkOf(additions[i].index));
        for (; i < additions.size() && tileChunkOf(additions[i].index) == chunk.number; ++i)
            chunk.add(additions[i]);
        level.knownChunk = std::max(level.knownChunk, chunk.number);
        if (const Status done = put(chunk.all()); !done)
            return done;
    }
    return Done{};
}

namespace {

/// When a chunk begins; the last moment of all where that is beyond it.
std::int64_t beginOfChunk(std::int64_t chunk, int level)
{
    std::int64_t ns = 0;
    return __builtin_mul_overflow(chunk, kTileChunk * tileWidthNs(level), &ns)
        ? std::numeric_limits<std::int64_t>::max()
        : ns;
}

/// The newest is what is mostly asked for.
template <typename Chunks> auto placeOf(Chunks& chunks, std::int64_t number)
{
    if (!chunks.empty() && chunks.back()->number < number)
        return chunks.end();
    return std::lower_bound(chunks.begin(), chunks.end(), number,
        [](const auto& chunk, std::int64_t wanted) { return chunk->number < wanted; });
}

} // namespace

/// Chunks that may be in the file and are not in memory, all in one reading.
Status TileBuilder::loadMissing(Level& level, std::span<const Tile> additions)
{
    std::vector<std::int64_t> missing;
    for (const Tile& addition : additions) {
        const std::int64_t number = tileChunkOf(addition.index);
        if (number > level.knownChunk)
            break;
        if ((missing.empty() || missing.back() != number) && !find(level, number))
            missing.push_back(number);
    }
    if (missing.empty())
        return Done{};
    const Tile& any = additions.front();
    auto loaded = load_(
        any.lane, any.level, { beginOfChunk(missing.front(), any.level), beginOfChunk(missing.back() + 1, any.level) });
    if (!loaded)
        return loaded.error().in("read tiles");
    auto tile = loaded->begin();
    for (const std::int64_t number : missing) {
        Chunk& chunk = findOrMake(level, number);
        while (tile != loaded->end() && tileChunkOf(tile->index) < number)
            ++tile;
        for (; tile != loaded->end() && tileChunkOf(tile->index) == number; ++tile)
            chunk.add(*tile);
    }
    return Done{};
}

TileBuilder::Chunk* TileBuilder::find(const Level& level, std::int64_t number)
{
    const auto at = placeOf(level.chunks, number);
    return at != level.chunks.end() && (*at)->number == number ? at->get() : nullptr;
}

TileBuilder::Chunk& TileBuilder::findOrMake(Level& level, std::int64_t number)
{
    const auto at = placeOf(level.chunks, number);
    if (at != level.chunks.end() && (*at)->number == number)
        return **at;
    return **level.chunks.insert(at, std::make_unique<Chunk>(number));
}

void TileBuilder::close(LaneId lane)
{
    lanes_.erase(lane);
    lastTiles_ = nullptr;
}

void TileBuilder::trim()
{
    for (auto& [lane, tiles] : lanes_) {
        for (Level& level : tiles.levels) {
            if (level.chunks.size() > kKeptChunks)
                level.chunks.erase(level.chunks.begin(), level.chunks.end() - kKeptChunks);
        }
    }
}

} // namespace rankscope::tracing
