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
        leastBegin_.pop_back();
    }
    blocks_.push_back(block);
    greatestEnd_.push_back(greatestEnd_.empty() ? block.endNs : std::max(greatestEnd_.back(), block.endNs));
    leastBegin_.push_back(block.beginNs);
    // Those before that begin later now see this one; in a lane's order of time there are few.
    for (std::size_t i = leastBegin_.size() - 1; i > 0 && leastBegin_[i - 1] > block.beginNs; --i)
        leastBegin_[i - 1] = block.beginNs;
}

void BlockIndex::clear()
{
    blocks_.clear();
    greatestEnd_.clear();
    leastBegin_.clear();
}

std::vector<Block> BlockIndex::touching(Window window) const
{
    std::vector<Block> found;
    if (window.endNs <= window.beginNs)
        return found;
    // Whatever lies before the first whose running greatest end reaches the window is over too early; a span that ends
    // where the window begins may be one of no length.
    const auto first
        = std::lower_bound(greatestEnd_.begin(), greatestEnd_.end(), window.beginNs) - greatestEnd_.begin();
    const auto last = std::lower_bound(leastBegin_.begin(), leastBegin_.end(), window.endNs) - leastBegin_.begin();
    for (auto i = first; i < last; ++i) {
        const Block& block = blocks_[static_cast<std::size_t>(i)];
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
