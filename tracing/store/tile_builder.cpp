#include "tracing/store/tile_builder.h"

#include <algorithm>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kKeptTiles = 256; ///< a lane and level
constexpr std::int64_t kRunCells = 64; ///< of the finest level: from here on a stretch is a run

std::int64_t cellOf(std::int64_t ns, int level)
{
    // A shift rounds down, also before the origin.
    return (ns >> kTileBaseShift) >> (kTileLevelShift * level);
}

void addTo(Tile& tile, const Tile& more)
{
    tile.count += more.count;
    tile.busyNs += more.busyNs;
    for (std::size_t i = 0; i < tile.classNs.size(); ++i)
        tile.classNs[i] += more.classNs[i];
    if (more.count > 0
        && (tile.count == more.count
            || more.longestEndNs - more.longestBeginNs > tile.longestEndNs - tile.longestBeginNs)) {
        tile.longestBeginNs = more.longestBeginNs;
        tile.longestEndNs = more.longestEndNs;
        tile.longestClass = more.longestClass;
    }
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

/// The same additions one level coarser; both ordered by index.
std::vector<Tile> coarser(std::span<const Tile> additions)
{
    std::vector<Tile> result;
    for (const Tile& tile : additions) {
        const std::int64_t index = tile.index >> kTileLevelShift;
        if (result.empty() || result.back().index != index) {
            result.push_back(tile);
            result.back().index = index;
            ++result.back().level;
        } else {
            addTo(result.back(), tile);
        }
    }
    return result;
}

} // namespace

TileBuilder::LaneTiles& TileBuilder::of(LaneId lane)
{
    if (!lastTiles_ || lastLane_ != lane) {
        lastTiles_ = &lanes_[lane];
        lastLane_ = lane;
    }
    return *lastTiles_;
}

Tile& TileBuilder::freshTile(LaneTiles& tiles, LaneId lane, std::int64_t index)
{
    if (tiles.lastFresh < tiles.fresh.size() && tiles.fresh[tiles.lastFresh].index == index)
        return tiles.fresh[tiles.lastFresh];
    const auto [entry, isNew] = tiles.freshAt.emplace(index, tiles.fresh.size());
    if (isNew) {
        Tile& tile = tiles.fresh.emplace_back();
        tile.lane = lane;
        tile.index = index;
    }
    tiles.lastFresh = entry->second;
    return tiles.fresh[tiles.lastFresh];
}

void TileBuilder::addPart(LaneTiles& tiles, LaneId lane, const Part& part)
{
    if (part.window.durationNs() >= kRunCells * kTileBaseNs) {
        tiles.runs.push_back(part);
        return;
    }
    for (std::int64_t beginNs = part.window.beginNs; beginNs < part.window.endNs;) {
        const std::int64_t index = cellOf(beginNs, 0);
        const std::int64_t endNs = std::min(part.window.endNs, (index + 1) * kTileBaseNs);
        Tile& tile = freshTile(tiles, lane, index);
        tile.busyNs += endNs - beginNs;
        tile.classNs[static_cast<std::size_t>(part.spanClass)] += endNs - beginNs;
        beginNs = endNs;
    }
}

void TileBuilder::add(LaneId lane, Window span, SpanClass spanClass, std::span<const Part> split)
{
    LaneTiles& tiles = of(lane);
    Tile begin;
    begin.count = 1;
    begin.longestBeginNs = span.beginNs;
    begin.longestEndNs = span.endNs;
    begin.longestClass = spanClass;
    addTo(freshTile(tiles, lane, cellOf(span.beginNs, 0)), begin);

    scratch_.clear();
    tiles.covered.add(span, scratch_);
    const Part whole{ span, spanClass };
    for (const Window& fresh : scratch_) {
        for (const Part& part : split.empty() ? std::span(&whole, 1) : split) {
            const Window both{ std::max(fresh.beginNs, part.window.beginNs), std::min(fresh.endNs, part.window.endNs) };
            addPart(tiles, lane, { both, part.spanClass });
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
        of(lane).levels[static_cast<std::size_t>(level)].knownIndex = cellOf(endNs, level);
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
    std::vector<Tile> gathered = std::exchange(tiles.fresh, {});
    std::sort(gathered.begin(), gathered.end(), byIndex);
    tiles.freshAt.clear();
    tiles.lastFresh = 0;
    for (int level = 0; level < kTileLevels; ++level) {
        std::vector<Tile> additions = gathered;
        for (const Part& run : tiles.runs) {
            if (const Status done = putRun(lane, level, run, additions, put); !done)
                return done;
        }
        if (const Status done = apply(tiles.levels[static_cast<std::size_t>(level)], additions, put); !done)
            return done;
        gathered = coarser(gathered);
    }
    tiles.runs.clear();
    return Done{};
}

/// The first and last cells of a run, and those that something else touches, become additions. The others hold nothing
/// but this run, in the file as well: they are put as they are.
Status TileBuilder::putRun(LaneId lane, int level, const Part& run, std::vector<Tile>& additions, const Put& put)
{
    const auto tile = [&](std::int64_t index) { return coveredTile(lane, level, index, run.window, run.spanClass); };
    const std::int64_t first = cellOf(run.window.beginNs, level);
    const std::int64_t last = cellOf(run.window.endNs - 1, level);
    mergeInto(additions, tile(first));
    if (last != first)
        mergeInto(additions, tile(last));
    if (last - first > kMostPlainTiles)
        return Done{};
    std::vector<Tile> plain;
    auto other = std::upper_bound(additions.begin(), additions.end(), tile(first), byIndex);
    for (std::int64_t index = first + 1; index < last; ++index) {
        while (other->index < index)
            ++other; // ends at the last cell at latest
        if (other->index == index)
            addTo(*other, tile(index));
        else
            plain.push_back(tile(index));
        if (plain.size() == kKeptTiles) {
            if (const Status done = put(plain); !done)
                return done;
            plain.clear();
        }
    }
    return plain.empty() ? Status(Done{}) : put(plain);
}

Status TileBuilder::apply(Level& level, std::span<const Tile> additions, const Put& put)
{
    if (const Status loaded = loadMissing(level, additions); !loaded)
        return loaded;
    std::vector<Tile> changed;
    changed.reserve(additions.size());
    for (const Tile& addition : additions) {
        const auto at = level.tiles.lower_bound(addition.index);
        const bool isKnown = at != level.tiles.end() && at->first == addition.index;
        if (isKnown)
            addTo(at->second, addition);
        changed.push_back(isKnown ? at->second : level.tiles.emplace_hint(at, addition.index, addition)->second);
        level.knownIndex = std::max(level.knownIndex, addition.index);
    }
    return put(changed);
}

/// Tiles that may be in the file and are not in memory, all in one reading.
Status TileBuilder::loadMissing(Level& level, std::span<const Tile> additions)
{
    std::optional<std::int64_t> first, last;
    for (const Tile& addition : additions) {
        if (addition.index > level.knownIndex)
            break;
        if (!level.tiles.contains(addition.index)) {
            first = first.value_or(addition.index);
            last = addition.index;
        }
    }
    if (!first)
        return Done{};
    const Tile& any = additions.front();
    const std::int64_t widthNs = tileWidthNs(any.level);
    auto loaded = load_(any.lane, any.level, { *first * widthNs, (*last + 1) * widthNs });
    if (!loaded)
        return loaded.error().in("read tiles");
    for (const Tile& tile : *loaded)
        level.tiles.emplace(tile.index, tile);
    return Done{};
}

void TileBuilder::trim()
{
    for (auto& [lane, tiles] : lanes_) {
        for (Level& level : tiles.levels) {
            while (level.tiles.size() > kKeptTiles)
                level.tiles.erase(level.tiles.begin());
        }
    }
}

} // namespace rankscope::tracing
