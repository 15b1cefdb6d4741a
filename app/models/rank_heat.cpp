#include "app/models/rank_heat.h"

#include "tracing/analysis/wording.h"

#include <QStringList>

#include <algorithm>
#include <map>
#include <set>

namespace rankscope::app {
namespace {

/// Named ones; a longer list says less.
constexpr qsizetype kNamed = 6;
/// Tukey's fence: so many times the distance of the quartiles beyond them is out of the ordinary.
constexpr double kFence = 1.5;
/// Of the window: what differs less is not worth a name.
constexpr double kLeastDifference = 0.01;

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

double valueAt(const std::vector<double>& sorted, double place)
{
    return sorted[static_cast<std::size_t>(place * static_cast<double>(sorted.size() - 1))];
}

/// Moves those that stand out to `worst`.
void findWorst(RankHeat& heat)
{
    std::vector<double> shares;
    for (const RankHeat::Node& node : heat.nodes) {
        for (const HeatCell& cell : node.cells)
            shares.push_back(cell.share);
    }
    if (shares.empty())
        return;
    std::ranges::sort(shares);
    heat.lowerQuartile = valueAt(shares, 0.25);
    heat.upperQuartile = valueAt(shares, 0.75);
    const double beyond = std::max(kLeastDifference, kFence * (heat.upperQuartile - heat.lowerQuartile));
    for (const RankHeat::Node& node : heat.nodes) {
        for (const HeatCell& cell : node.cells) {
            const bool isBad
                = heat.lowIsBad ? cell.share < heat.lowerQuartile - beyond : cell.share > heat.upperQuartile + beyond;
            if (isBad)
                heat.worst.push_back(cell);
        }
    }
    std::ranges::stable_sort(heat.worst,
        [&](const HeatCell& a, const HeatCell& b) { return heat.lowIsBad ? a.share < b.share : a.share > b.share; });
}

QString percent(double share) { return QString::fromStdString(tracing::shareText(share)); }

} // namespace

QString RankHeat::worstText() const
{
    if (worst.empty() && highest - lowest < kLeastDifference)
        return QStringLiteral("all ranks are alike");
    if (worst.empty())
        return QStringLiteral("no rank stands out: half of them lie between %1 and %2")
            .arg(percent(lowerQuartile), percent(upperQuartile));
    QStringList words;
    std::set<std::int32_t> named;
    qsizetype left = 0;
    for (const HeatCell& cell : worst) {
        if (named.contains(cell.rank))
            continue;
        const auto isOf = [&](const Node& node) { return std::ranges::find(node.cells, cell) != node.cells.end(); };
        const auto node = std::ranges::find_if(nodes, isOf);
        const auto standsOut = [&](const HeatCell& each) { return std::ranges::find(worst, each) != worst.end(); };
        const bool isWhole = node->cells.size() > 1 && !node->name.isEmpty() && nodes.size() > 1
            && std::ranges::all_of(node->cells, standsOut);
        if (words.size() >= kNamed) {
            ++left;
        } else if (!isWhole) {
            words << QStringLiteral("rank %1 %2").arg(cell.rank).arg(percent(cell.share));
        } else {
            words << QStringLiteral("node %1 (%2 ranks, at worst %3)")
                         .arg(node->name)
                         .arg(node->cells.size())
                         .arg(percent(cell.share));
            for (const HeatCell& each : node->cells)
                named.insert(each.rank);
        }
    }
    const QString list
        = words.join(QStringLiteral(", ")) + (left > 0 ? QStringLiteral(" and %1 more").arg(left) : QString());
    const bool awaited = leaf == Leaf::Wait || leaf == Leaf::Imbalance;
    return (awaited ? QStringLiteral("wait least, so the others wait for them: %1") : QStringLiteral("stand out: %1"))
        .arg(list);
}

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
        heat.lowest = row == byRank.front() ? cell.share : std::min(heat.lowest, cell.share);
        heat.highest = std::max(heat.highest, cell.share);
    }
    findWorst(heat);
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
