#include "tracing/store/tile_store.h"

#include "tracing/store/tile_codec.h"

#include <algorithm>

namespace rankscope::tracing {

Status TileStore::put(std::span<const Tile> tiles)
{
    for (const Tile& tile : tiles) {
        RS_CHECK(tile.level >= 0 && tile.level < kTileLevels, "a tile's level is one of kTileLevels");
        const Key key{ tile.lane, tile.level };
        Growing& growing = growing_[key];
        const std::int64_t number = tileChunkOf(tile.index);
        if (!growing.chunk || growing.chunk->number != number) {
            if (auto loaded = load(key, growing, number); !loaded)
                return loaded;
        }
        auto& cells = growing.chunk->cells;
        const auto place = std::lower_bound(cells.begin(), cells.end(), tile.index,
            [](const Tile& cell, std::int64_t index) { return cell.index < index; });
        if (place != cells.end() && place->index == tile.index)
            *place = tile;
        else
            cells.insert(place, tile);
        growing.chunk->changed = true;
    }
    return Done{};
}

Status TileStore::flush()
{
    for (auto& [key, growing] : growing_) {
        if (growing.chunk && growing.chunk->changed) {
            if (auto written = write(key, *growing.chunk); !written)
                return written;
        }
    }
    return Done{};
}

Status TileStore::load(const Key& key, Growing& growing, std::int64_t number)
{
    if (growing.chunk && growing.chunk->changed) {
        if (auto written = write(key, *growing.chunk); !written)
            return written;
    }
    Chunk chunk;
    chunk.number = number;
    if (!growing.greatest || number <= *growing.greatest) {
        if (!select_) {
            auto prepared = database_.prepare("SELECT cells FROM tile WHERE lane = ? AND level = ? AND first_cell = ?");
            if (!prepared)
                return prepared.error();
            select_ = std::move(*prepared);
        }
        select_.reset().bind(1, raw(key.first)).bind(2, key.second).bind(3, firstCellOf(number));
        auto row = select_.step();
        if (!row)
            return row.error();
        if (*row) {
            auto cells = decodeTiles(key.first, key.second, firstCellOf(number), select_.text(0));
            if (!cells)
                return cells.error();
            chunk.cells = std::move(*cells);
        }
        select_.reset();
    }
    growing.greatest = std::max(growing.greatest.value_or(number), number);
    growing.chunk = std::move(chunk);
    return Done{};
}

Status TileStore::write(const Key& key, Chunk& chunk)
{
    if (!insert_) {
        auto prepared = database_.prepare("INSERT INTO tile(lane, level, first_cell, cells) VALUES (?, ?, ?, ?)"
                                          " ON CONFLICT(lane, level, first_cell) DO UPDATE SET cells = excluded.cells");
        if (!prepared)
            return prepared.error();
        insert_ = std::move(*prepared);
    }
    insert_.reset().bind(1, raw(key.first)).bind(2, key.second).bind(3, firstCellOf(chunk.number));
    insert_.bindBlob(4, encodeTiles(chunk.cells));
    chunk.changed = false;
    return insert_.run();
}

} // namespace rankscope::tracing
