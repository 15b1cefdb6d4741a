#include "tracing/store/fresh_tiles.h"

#include <algorithm>
#include <numeric>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kLeastSlots = 256;

} // namespace

void addTo(Tile& tile, const Tile& more)
{
    const bool isLonger = more.longestEndNs - more.longestBeginNs > tile.longestEndNs - tile.longestBeginNs;
    if (more.count > 0 && (tile.count == 0 || isLonger)) {
        tile.longestBeginNs = more.longestBeginNs;
        tile.longestEndNs = more.longestEndNs;
        tile.longestClass = more.longestClass;
    }
    tile.count += more.count;
    tile.busyNs += more.busyNs;
    for (std::size_t i = 0; i < tile.classNs.size(); ++i)
        tile.classNs[i] += more.classNs[i];
}

Tile& FreshTiles::find(std::int64_t index)
{
    if (2 * tiles_.size() >= slots_.size())
        grow();
    std::size_t slot = slotOf(index);
    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
        last_ = slots_[slot] - 1;
        if (tiles_[last_].index == index)
            return tiles_[last_];
    }
    isOrdered_ = isOrdered_ && (tiles_.empty() || tiles_.back().index < index);
    last_ = tiles_.size();
    Tile& tile = tiles_.emplace_back();
    tile.lane = lane_;
    tile.index = index;
    slots_[slot] = static_cast<std::uint32_t>(tiles_.size());
    return tile;
}

void FreshTiles::grow()
{
    slots_.assign(std::max(kLeastSlots, 2 * slots_.size()), 0);
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
        std::size_t slot = slotOf(tiles_[i].index);
        while (slots_[slot] != 0)
            slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = static_cast<std::uint32_t>(i + 1);
    }
}

std::vector<Tile>& FreshTiles::ordered()
{
    if (isOrdered_)
        return tiles_;
    // A tile is large: each is moved once.
    order_.resize(tiles_.size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::sort(order_.begin(), order_.end(),
        [this](std::uint32_t a, std::uint32_t b) { return tiles_[a].index < tiles_[b].index; });
    moved_.clear();
    for (const std::uint32_t place : order_)
        moved_.push_back(tiles_[place]);
    return moved_;
}

void FreshTiles::clear()
{
    tiles_.clear();
    moved_.clear();
    std::fill(slots_.begin(), slots_.end(), 0u);
    last_ = 0;
    isOrdered_ = true;
}

} // namespace rankscope::tracing
