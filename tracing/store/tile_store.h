#pragma once

#include "tracing/model/result.h"
#include "tracing/store/sqlite.h"
#include "tracing/store/tile.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rankscope::tracing {

/// Writer's side of table tile: keeps the row that each lane and level is growing in memory until flush().
class TileStore {
public:
    explicit TileStore(const Database& database)
        : database_(database)
    {
    }

    Status put(std::span<const Tile> tiles);
    Status flush();

private:
    struct Chunk {
        std::int64_t number = 0;
        std::vector<Tile> cells; ///< by index
        bool changed = false;
    };
    struct Growing {
        std::optional<Chunk> chunk;
        std::optional<std::int64_t> greatest; ///< chunk number; beyond it nothing is in the file
    };
    using Key = std::pair<LaneId, std::int32_t>; ///< lane, level

    Status load(const Key& key, Growing& growing, std::int64_t number);
    Status write(const Key& key, Chunk& chunk);

    const Database& database_;
    std::map<Key, Growing> growing_;
    Statement insert_;
    Statement select_;
};

} // namespace rankscope::tracing
