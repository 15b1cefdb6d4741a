#include "tracing/store/tile_store.h"

#include "tracing/store/tile_codec.h"

#include <algorithm>
#include <iterator>
#include <limits>

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
            if (auto written = write(key, growing.chunk->number, growing.chunk->cells); !written)
                return written;
            growing.chunk->changed = false;
        }
    }
    return Done{};
}

Result<std::vector<Tile>> TileStore::cells(LaneId lane, int level, Window window)
{
    if (const auto growing = growing_.find({ lane, level });
        growing != growing_.end() && growing->second.chunk && growing->second.chunk->changed) {
        if (auto written = write(growing->first, growing->second.chunk->number, growing->second.chunk->cells); !written)
            return written.error();
        growing->second.chunk->changed = false;
    }
    if (const Status ready = prepare(window_,
            "SELECT first_cell, cells FROM tile WHERE lane = ? AND level = ? AND first_cell BETWEEN ? AND ?"
            " ORDER BY first_cell");
        !ready)
        return ready.error();
    const int shift = kTileBaseShift + kTileLevelShift * level;
    const std::int64_t first = window.beginNs >> shift, last = (window.endNs - 1) >> shift;
    window_.reset().bind(1, raw(lane)).bind(2, level).bind(3, firstCellOf(tileChunkOf(first))).bind(4, last);
    std::vector<Tile> tiles;
    for (;;) {
        auto row = window_.step();
        if (!row)
            return row.error();
        if (!*row)
            break;
        auto cells = decodeTiles(lane, level, window_.integer(0), window_.text(1));
        if (!cells)
            return cells.error();
        std::ranges::copy_if(*cells, std::back_inserter(tiles),
            [&](const Tile& tile) { return tile.index >= first && tile.index <= last; });
    }
    window_.reset();
    return tiles;
}

Status TileStore::putRow(std::span<const Tile> cells)
{
    if (cells.empty())
        return Done{};
    const Key key{ cells.front().lane, cells.front().level };
    const std::int64_t number = tileChunkOf(cells.front().index);
    RS_CHECK(cells.front().level >= 0 && cells.front().level < kTileLevels, "a tile's level is one of kTileLevels");
    RS_CHECK(tileChunkOf(cells.back().index) == number, "the cells of a row are neighbours");
    Growing& growing = growing_[key];
    if (growing.chunk && growing.chunk->number == number)
        growing.chunk.reset();
    if (growing.insertedRow != 0 && growing.insertedNumber == number)
        return overwrite(growing.insertedRow, cells);
    database_.forgetLastRow();
    if (auto written = write(key, number, cells); !written)
        return written;
    // 0 where the row was there before.
    if (database_.lastRow() != 0) {
        growing.insertedNumber = number;
        growing.insertedRow = database_.lastRow();
    }
    if (growing.greatest)
        growing.greatest = std::max(*growing.greatest, number);
    return Done{};
}

Status TileStore::load(const Key& key, Growing& growing, std::int64_t number)
{
    if (growing.chunk && growing.chunk->changed) {
        if (auto written = write(key, growing.chunk->number, growing.chunk->cells); !written)
            return written;
    }
    if (!growing.greatest) {
        auto greatest = greatestInFile(key);
        if (!greatest)
            return greatest.error();
        growing.greatest = *greatest;
    }
    Chunk chunk;
    chunk.number = number;
    if (number <= *growing.greatest) {
        if (auto ready = prepare(select_, "SELECT cells FROM tile WHERE lane = ? AND level = ? AND first_cell = ?");
            !ready)
            return ready;
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
    growing.greatest = std::max(*growing.greatest, number);
    growing.chunk = std::move(chunk);
    return Done{};
}

Result<std::int64_t> TileStore::greatestInFile(const Key& key)
{
    if (const Status ready = prepare(greatest_, "SELECT max(first_cell) FROM tile WHERE lane = ? AND level = ?");
        !ready)
        return ready.error();
    greatest_.reset().bind(1, raw(key.first)).bind(2, key.second);
    auto row = greatest_.step();
    if (!row)
        return row.error();
    const auto first = *row ? greatest_.optionalInteger(0) : std::nullopt;
    greatest_.reset();
    return first ? tileChunkOf(*first) : std::numeric_limits<std::int64_t>::min();
}

Status TileStore::prepare(Statement& statement, std::string_view sql) const
{
    if (statement)
        return Done{};
    auto prepared = database_.prepare(sql);
    if (!prepared)
        return prepared.error();
    statement = std::move(*prepared);
    return Done{};
}

Status TileStore::write(const Key& key, std::int64_t number, std::span<const Tile> cells)
{
    const Status ready = prepare(insert_,
        "INSERT INTO tile(lane, level, first_cell, cells) VALUES (?, ?, ?, ?)"
        " ON CONFLICT(lane, level, first_cell) DO UPDATE SET cells = excluded.cells");
    if (!ready)
        return ready;
    insert_.reset().bind(1, raw(key.first)).bind(2, key.second).bind(3, firstCellOf(number));
    insert_.bindBlob(4, encodeTiles(cells, encoded_));
    return insert_.run();
}

/// A third of the cost of finding the row by what it is unique by.
Status TileStore::overwrite(std::int64_t row, std::span<const Tile> cells)
{
    if (const Status ready = prepare(update_, "UPDATE tile SET cells = ?1 WHERE id = ?2"); !ready)
        return ready;
    update_.reset().bindBlob(1, encodeTiles(cells, encoded_)).bind(2, row);
    return update_.run();
}

} // namespace rankscope::tracing
