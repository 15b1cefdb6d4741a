#include "app/timeline/core/lane_layout.h"

#include "app/timeline/core/metrics.h"

#include <algorithm>

namespace rankscope::app::timeline {

using tracing::LaneKind;

namespace {

float heightOf(LaneKind kind, int levels)
{
    const auto rows = static_cast<float>(levels);
    switch (kind) {
    case LaneKind::Compute:
        return levels == 1 ? kComputeHeight : rows * kSubRowHeight;
    case LaneKind::Communication:
        return levels == 1 ? kCommunicationHeight : rows * kSubRowHeight;
    case LaneKind::Copy:
        return rows * kCopyHeight;
    case LaneKind::Host:
        return rows * kHostRowHeight;
    case LaneKind::Counter:
        return kCounterHeight;
    }
    return kComputeHeight;
}

} // namespace

LevelPlace placeOf(const Box& box, LaneKind kind, int level)
{
    if (box.kind != Box::Kind::Lane)
        return { 0, kLedgerHeight };
    if (kind == LaneKind::Counter || box.levels <= 1)
        return { 0, box.height };
    const float row = box.height / static_cast<float>(box.levels);
    const int shown = std::clamp(level, 0, box.levels - 1);
    return { static_cast<float>(shown) * row, row - 1 }; // one pixel of ground keeps rows apart
}

LaneLayout::LaneLayout(const RunFacts& facts, const Options& options)
{
    std::set<std::int32_t> ranks;
    for (const tracing::RankInfo& rank : facts.ranks)
        ranks.insert(rank.rank);
    for (const tracing::Lane& lane : facts.lanes)
        ranks.insert(lane.rank);
    int order = 0;
    for (const std::int32_t rank : ranks)
        addRank(facts, options, rank, order++);
}

void LaneLayout::addRank(const RunFacts& facts, const Options& options, std::int32_t rank, int order)
{
    if (options.folded.contains(rank)) {
        std::optional<std::size_t> compute;
        for (std::size_t i = 0; i < facts.lanes.size() && !compute; ++i) {
            if (facts.lanes[i].rank == rank && facts.lanes[i].kind == LaneKind::Compute)
                compute = i;
        }
        boxes_.push_back({ Box::Kind::FoldedRank, rank, order, compute, height_, kFoldedPitch, 1 });
        height_ += kFoldedPitch;
        return;
    }
    boxes_.push_back({ Box::Kind::RankTitle, rank, order, std::nullopt, height_, kRankTitleHeight, 1 });
    height_ += kRankTitleHeight;
    if (options.ledger) {
        boxes_.push_back({ Box::Kind::Ledger, rank, order, std::nullopt, height_, kLedgerHeight, 1 });
        height_ += kLedgerHeight + kLaneGap;
    }
    std::vector<std::size_t> lanes;
    for (std::size_t i = 0; i < facts.lanes.size(); ++i) {
        if (facts.lanes[i].rank == rank)
            lanes.push_back(i);
    }
    std::stable_sort(lanes.begin(), lanes.end(), [&](std::size_t a, std::size_t b) {
        const tracing::Lane& left = facts.lanes[a];
        const tracing::Lane& right = facts.lanes[b];
        return left.kind != right.kind ? left.kind < right.kind : left.dimension < right.dimension;
    });
    for (const std::size_t i : lanes) {
        const tracing::Lane& lane = facts.lanes[i];
        const auto known = options.levels.find(lane.id);
        const int levels = known == options.levels.end() ? 1 : std::max(1, known->second);
        const float height = heightOf(lane.kind, levels);
        boxes_.push_back({ Box::Kind::Lane, rank, order, i, height_, height, levels });
        height_ += height + kLaneGap;
    }
    height_ += kRankGap;
}

const Box* LaneLayout::boxAt(float y) const
{
    const auto after
        = std::upper_bound(boxes_.begin(), boxes_.end(), y, [](float at, const Box& box) { return at < box.top; });
    if (after == boxes_.begin())
        return nullptr;
    const Box& box = *std::prev(after);
    return y < box.bottom() ? &box : nullptr;
}

std::pair<float, float> LaneLayout::extentOf(std::int32_t rank) const
{
    float top = 0;
    float bottom = 0;
    bool found = false;
    for (const Box& box : boxes_) {
        if (box.rank != rank)
            continue;
        top = found ? top : box.top;
        bottom = box.bottom();
        found = true;
    }
    return { top, bottom };
}

} // namespace rankscope::app::timeline
