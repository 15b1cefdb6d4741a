#include "tracing/store/blocks.h"

#include <algorithm>
#include <limits>

namespace rankscope::tracing {

namespace {

using Limits = std::numeric_limits<std::int64_t>;

} // namespace

Block& BlockBuilder::blockFor(LaneId lane, BlockKind kind, std::int64_t row)
{
    Open& open = open_[{ raw(lane), kind }];
    Block& block = open.block;
    if (block.rows == 0 || block.rows >= kBlockRows || row - block.firstRow >= kBlockReach) {
        if (open.changed)
            full_.push_back(block);
        block = { raw(lane), kind, row, row - 1, 0, Limits::max(), Limits::min() };
    }
    open.changed = true;
    return block;
}

std::vector<Block> BlockBuilder::takeChanged()
{
    std::vector<Block> changed = std::move(full_);
    full_.clear();
    for (auto& [key, open] : open_) {
        if (open.changed)
            changed.push_back(open.block);
        open.changed = false;
    }
    return changed;
}

void BlockIndex::put(const Block& block)
{
    if (!blocks_.empty() && blocks_.back().firstRow == block.firstRow) {
        blocks_.pop_back();
        greatestEnd_.pop_back();
    }
    blocks_.push_back(block);
    greatestEnd_.push_back(greatestEnd_.empty() ? block.endNs : std::max(greatestEnd_.back(), block.endNs));
}

void BlockIndex::clear()
{
    blocks_.clear();
    greatestEnd_.clear();
}

std::vector<Block> BlockIndex::touching(Window window) const
{
    std::vector<Block> found;
    if (window.endNs <= window.beginNs)
        return found;
    // All blocks before the first whose running greatest end reaches the window end too early.
    const auto first = std::lower_bound(greatestEnd_.begin(), greatestEnd_.end(), window.beginNs);
    for (auto i = static_cast<std::size_t>(first - greatestEnd_.begin()); i < blocks_.size(); ++i) {
        const Block& block = blocks_[i];
        if (block.beginNs < window.endNs && block.endNs >= window.beginNs)
            found.push_back(block);
    }
    return found;
}

std::vector<std::int64_t> BlockIndex::leastBeginAfter(const std::vector<Block>& blocks)
{
    std::vector<std::int64_t> least(blocks.size(), Limits::max());
    for (std::size_t i = blocks.size(); i-- > 1;)
        least[i - 1] = std::min(least[i], blocks[i].beginNs);
    return least;
}

} // namespace rankscope::tracing
