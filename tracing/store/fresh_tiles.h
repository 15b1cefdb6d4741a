#pragma once

#include "tracing/store/tile.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rankscope::tracing {

/// Cells of one lane at the finest level that are being filled, reached by index. Memory is kept for the next ones.
class FreshTiles {
public:
    explicit FreshTiles(LaneId lane)
        : lane_(lane)
    {
    }

    /// Valid until the next call.
    Tile& at(std::int64_t index)
    {
        if (last_ < tiles_.size() && tiles_[last_].index == index)
            return tiles_[last_];
        return find(index);
    }
    bool empty() const { return tiles_.empty(); }
    /// All of them by index. The caller may change them, and then has to clear().
    std::vector<Tile>& ordered();
    void clear();

private:
    Tile& find(std::int64_t index);
    std::size_t slotOf(std::int64_t index) const { return static_cast<std::size_t>(index) & (slots_.size() - 1); }
    void grow();

    LaneId lane_;
    std::vector<Tile> tiles_;
    /// Place in tiles_ plus 1, 0: free. A hash table in which a cell's neighbours are its neighbours: they come
    /// together.
    std::vector<std::uint32_t> slots_;
    std::size_t last_ = 0;
    bool isOrdered_ = true;
    std::vector<std::uint32_t> order_;
    std::vector<Tile> moved_;
};

/// Adds what `more` gathered of the same cell; of two longest spans as long, the one in `tile` stays.
void addTo(Tile& tile, const Tile& more);

} // namespace rankscope::tracing
