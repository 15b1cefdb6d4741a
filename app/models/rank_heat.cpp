#include "app/models/rank_heat.h"

#include <algorithm>
#include <map>

namespace rankscope::app {
namespace {

constexpr std::size_t kWorst = 5;

double shareOf(const RankRow& row, Leaf leaf)
{
    std::int64_t part = 0;
    std::int64_t whole = 0;
    for (const BarSegment& segment : row.bar) {
        whole += segment.ns;
        part += segment.leaf == leaf ? segment.ns : 0;
    }
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

} // namespace

int RankHeat::stepOf(double share) const
{
    if (highest <= lowest)
        return 0;
    const double place = (share - lowest) / (highest - lowest);
    const double bad = lowIsBad ? 1 - place : place;
    return std::clamp(static_cast<int>(bad * kHeatSteps), 0, kHeatSteps - 1);
}

RankHeat rankHeat(const std::vector<RankRow>& rows, Leaf leaf)
{
    RankHeat heat;
    heat.leaf = leaf;
    heat.lowIsBad = leaf == Leaf::Compute || leaf == Leaf::Wait || leaf == Leaf::Imbalance;
    std::vector<const RankRow*> byRank;
    for (const RankRow& row : rows)
        byRank.push_back(&row);
    std::ranges::sort(byRank, {}, &RankRow::rank);
    std::map<QString, std::size_t> places;
    for (const RankRow* row : byRank) {
        const HeatCell cell{ row->rank, shareOf(*row, leaf) };
        const auto [place, isNew] = places.try_emplace(row->node, heat.nodes.size());
        if (isNew)
            heat.nodes.push_back({ row->node, {} });
        heat.nodes[place->second].cells.push_back(cell);
        heat.worst.push_back(cell);
        heat.lowest = row == byRank.front() ? cell.share : std::min(heat.lowest, cell.share);
        heat.highest = std::max(heat.highest, cell.share);
    }
    std::ranges::stable_sort(heat.worst,
        [&](const HeatCell& a, const HeatCell& b) { return heat.lowIsBad ? a.share < b.share : a.share > b.share; });
    heat.worst.resize(heat.highest > heat.lowest ? std::min(kWorst, heat.worst.size()) : 0);
    return heat;
}

std::vector<Leaf> heatLeaves(const std::vector<RankRow>& rows)
{
    std::map<Leaf, std::int64_t> sums;
    for (const RankRow& row : rows) {
        for (const BarSegment& segment : row.bar)
            sums[segment.leaf] += segment.ns;
    }
    std::vector<Leaf> leaves;
    for (const auto& [leaf, ns] : sums)
        leaves.push_back(leaf);
    std::ranges::stable_sort(leaves, [&](Leaf a, Leaf b) {
        const auto place = [&](Leaf leaf) { return leaf == Leaf::Compute ? std::int64_t{ -1 } : sums[leaf]; };
        return place(a) > place(b);
    });
    return leaves;
}

} // namespace rankscope::app
