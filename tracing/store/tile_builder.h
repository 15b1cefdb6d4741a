#pragma once

#include "tracing/model/result.h"
#include "tracing/store/fresh_tiles.h"
#include "tracing/store/interval_set.h"
#include "tracing/store/tile.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace rankscope::tracing {

inline constexpr std::int64_t kMostPlainTiles = std::int64_t{ 1 } << 20; ///< 18 min at the finest level

/// Builds the tiles of all lanes while spans arrive, in any order. Spans are gathered at the finest level; flush() adds
/// them to the tiles of every level. Recent tiles stay in memory, older ones are read back when a late span meets them.
/// Where one span alone covers more than kMostPlainTiles cells of a level, those cells are left out at that level.
class TileBuilder {
public:
    /// Reads tiles of the file, those before the last trim() at least.
    using Load = std::function<Result<std::vector<Tile>>(LaneId lane, int level, Window window)>;
    explicit TileBuilder(Load load)
        : load_(std::move(load))
    {
    }

    struct Part {
        Window window;
        SpanClass spanClass = SpanClass::Unattributed;
    };
    /// One span. `split` says what covers it from its begin on, in order and without gaps; empty: spanClass all along.
    void add(LaneId lane, Window span, SpanClass spanClass, std::span<const Part> split = {});
    /// A span whose tiles are in the file already (after a restart): only its union counts.
    void remember(LaneId lane, Window span);
    /// What is in the file reaches to here: tiles that begin later are new.
    void setKnownEnd(LaneId lane, std::int64_t endNs);

    /// Hands out what changed since the last flush, to be put in the same transaction as its rows: each call brings all
    /// cells of one of the file's rows (tile_codec.h), ordered by index.
    using Put = std::function<Status(std::span<const Tile>)>;
    Status flush(const Put& put);
    /// Once what was put can be read back: forgets tiles that new spans will hardly meet.
    void trim();
    /// After a flush: no more spans come to this lane, all that is kept of it goes.
    void close(LaneId lane);

private:
    /// Neighbouring cells that share a row of the file: all that are there, by index.
    struct Chunk {
        explicit Chunk(std::int64_t chunkNumber)
            : number(chunkNumber)
        {
        }
        std::span<const Tile> all() const { return std::span(cells).first(static_cast<std::size_t>(count())); }
        int count() const;
        void add(const Tile& tile);

        std::int64_t number;
        std::uint32_t present = 0; ///< bit i: cell i of the chunk
        std::array<Tile, kTileChunk> cells;
    };
    struct Level {
        std::vector<std::unique_ptr<Chunk>> chunks; ///< by number; the newest
        std::int64_t knownChunk = INT64_MIN; ///< greatest number in memory or in the file
    };
    struct LaneTiles {
        explicit LaneTiles(LaneId lane)
            : fresh(lane)
        {
        }
        IntervalSet covered;
        std::vector<Part> runs; ///< fresh stretches of many cells: what lies inside is put without being gathered
        FreshTiles fresh; ///< of level 0: what the next flush adds
        std::array<Level, kTileLevels> levels;
    };

    LaneTiles& of(LaneId lane);
    static void addPart(LaneTiles& tiles, const Part& part);
    Status flushLane(LaneId lane, LaneTiles& tiles, const Put& put);
    static Status putRun(
        LaneId lane, int number, const Level& level, const Part& run, std::vector<Tile>& additions, const Put& put);
    Status apply(Level& level, std::span<const Tile> additions, const Put& put);
    Status loadMissing(Level& level, std::span<const Tile> additions);
    static Chunk* find(const Level& level, std::int64_t number);
    static Chunk& findOrMake(Level& level, std::int64_t number);

    Load load_;
    std::map<LaneId, LaneTiles> lanes_;
    LaneTiles* lastTiles_ = nullptr;
    LaneId lastLane_{};
    std::vector<Window> scratch_;
    std::vector<Tile> additions_; ///< of one lane and level
};

} // namespace rankscope::tracing
