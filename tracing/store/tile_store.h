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
    /// All cells of one row, which replace those that are there. Goes to the file at once.
    Status putRow(std::span<const Tile> cells);
    Status flush();
    /// The cells of a window, ordered by index, as put so far.
    Result<std::vector<Tile>> cells(LaneId lane, int level, Window window);

private:
    struct Chunk {
        std::int64_t number = 0;
        std::vector<Tile> cells; ///< by index
        bool changed = false;
    };
    struct Growing {
        std::optional<Chunk> chunk;
        std::optional<std::int64_t> greatest; ///< chunk number; beyond it nothing is in the file
        std::int64_t insertedNumber = 0; ///< the chunk that putRow() inserted last,
        std::int64_t insertedRow = 0; ///< and its id; 0: none
    };
    using Key = std::pair<LaneId, std::int32_t>; ///< lane, level

    Status load(const Key& key, Growing& growing, std::int64_t number);
    Result<std::int64_t> greatestInFile(const Key& key);
    Status write(const Key& key, std::int64_t number, std::span<const Tile> cells);
    Status overwrite(std::int64_t row, std::span<const Tile> cells);
    Status prepare(Statement& statement, std::string_view sql) const;

    const Database& database_;
    std::map<Key, Growing> growing_;
    std::vector<char> encoded_;
    Statement insert_;
    Statement update_;
    Statement select_;
    Statement greatest_;
    Statement window_;
};

} // namespace rankscope::tracing
