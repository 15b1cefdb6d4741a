#pragma once

#include "tracing/store/interval_set.h"
#include "tracing/model/result.h"
#include "tracing/store/tile.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace rankscope::tracing {

inline constexpr std::int64_t kMostPlainTiles = std::int64_t{ 1 } << 20; ///< 18 min at the finest level

/// Builds the tiles of all lanes while spans arrive, in any order. Spans are gathered at the finest level; flush() adds
/// them to the tiles of every level. Recent tiles stay in memory, older ones are read back when a late span meets them.
/// Where one span alone covers more than kMostPlainTiles cells of a level, those cells are left out at that level.
class TileBuilder {
public:
    /// Reads tiles of the file as last committed.
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

    /// Hands out the tiles that changed since the last flush, whole, to be put in the same transaction as their rows.
    using Put = std::function<Status(std::span<const Tile>)>;
    Status flush(const Put& put);
    /// After the commit: forgets tiles that new spans will hardly meet.
    void trim();

private:
    struct Level {
        std::map<std::int64_t, Tile> tiles; ///< by index; the newest
        std::int64_t knownIndex = INT64_MIN; ///< greatest index in memory or in the file
    };
    struct LaneTiles {
        IntervalSet covered;
        std::vector<Part> runs; ///< fresh stretches of many cells: what lies inside is put without being gathered
        std::vector<Tile> fresh; ///< of level 0: what the next flush adds
        std::unordered_map<std::int64_t, std::size_t> freshAt; ///< index to place in fresh
        std::size_t lastFresh = 0;
        std::vector<Level> levels{ kTileLevels };
    };

    LaneTiles& of(LaneId lane);
    static Tile& freshTile(LaneTiles& tiles, LaneId lane, std::int64_t index);
    static void addPart(LaneTiles& tiles, LaneId lane, const Part& part);
    Status flushLane(LaneId lane, LaneTiles& tiles, const Put& put);
    static Status putRun(LaneId lane, int level, const Part& run, std::vector<Tile>& additions, const Put& put);
    Status apply(Level& level, std::span<const Tile> additions, const Put& put);
    Status loadMissing(Level& level, std::span<const Tile> additions);

    Load load_;
    std::map<LaneId, LaneTiles> lanes_;
    LaneTiles* lastTiles_ = nullptr;
    LaneId lastLane_{};
    std::vector<Window> scratch_;
};

} // namespace rankscope::tracing
