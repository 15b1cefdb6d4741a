#pragma once

#include "tracing/model/ids.h"
#include "tracing/model/rows.h"
#include "tracing/store/event_tables.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace rankscope::tracing {

/// Where some rows of one lane lie in their table: ids firstRow .. lastRow, with rows of other lanes perhaps between.
struct Block {
    std::int32_t lane = 0;
    BlockKind kind = BlockKind::Kernel;
    std::int64_t firstRow = 0;
    std::int64_t lastRow = 0;
    std::int64_t rows = 0;
    std::int64_t beginNs = 0; ///< least begin
    std::int64_t endNs = 0; ///< greatest end

    bool operator==(const Block&) const = default;
};

/// Rows in a block at most: what a window query reads too much at either side.
inline constexpr std::int64_t kBlockRows = 256;
/// Ids a block may stretch over, so that runs of few rows do not become a block each.
inline constexpr std::int64_t kBlockReach = 2048;

/// Writer's side: gathers what was appended and says which block rows to write.
class BlockBuilder {
public:
    /// Rows with ids firstRow, firstRow + 1, ... were appended for a lane.
    template <typename Row> void add(LaneId lane, std::int64_t firstRow, std::span<const Row> rows)
    {
        while (!rows.empty()) {
            Block& block = blockFor(lane, EventTable<Row>::kind, firstRow);
            const std::int64_t room = std::min(kBlockRows - block.rows, kBlockReach - (firstRow - block.firstRow));
            const std::size_t count = std::min(rows.size(), static_cast<std::size_t>(room));
            for (const Row& row : rows.first(count)) {
                block.beginNs = std::min(block.beginNs, beginOf(row));
                block.endNs = std::max(block.endNs, endOf(row));
            }
            firstRow += static_cast<std::int64_t>(count);
            block.lastRow = firstRow - 1;
            block.rows += static_cast<std::int64_t>(count);
            rows = rows.subspan(count);
        }
    }

    /// New and grown blocks since the last call.
    std::vector<Block> takeChanged();

private:
    Block& blockFor(LaneId lane, BlockKind kind, std::int64_t row);

    struct Open {
        Block block;
        bool changed = false;
    };
    std::map<std::pair<std::int32_t, BlockKind>, Open> open_; ///< the one a lane's next rows may go into
    std::vector<Block> full_;
};

/// Reader's side: the blocks of one lane and kind, in the order of their rows.
class BlockIndex {
public:
    /// Adds a block, or replaces the last one, which has grown.
    void put(const Block& block);
    void clear();
    bool empty() const { return blocks_.empty(); }
    const std::vector<Block>& blocks() const { return blocks_; }

    /// The blocks that may hold rows of the window, found by binary search from both sides.
    std::vector<Block> touching(Window window) const;

    /// For each of the blocks the least begin of those after it; the last has the greatest number.
    static std::vector<std::int64_t> leastBeginAfter(const std::vector<Block>& blocks);

private:
    std::vector<Block> blocks_;
    std::vector<std::int64_t> greatestEnd_; ///< of blocks_[0 .. i]; rises
    std::vector<std::int64_t> leastBegin_; ///< of blocks_[i .. end]; rises
};

/// A row of no length counts where it stands.
constexpr bool touches(std::int64_t beginNs, std::int64_t endNs, Window window)
{
    return beginNs < window.endNs && (endNs > window.beginNs || beginNs >= window.beginNs);
}

} // namespace rankscope::tracing
