#pragma once

#include "app/models/overview_model.h"

#include <QString>

#include <cstdint>
#include <vector>

namespace rankscope::app {

/// More ranks than this are shown as a heat map.
inline constexpr std::size_t kMostRankBars = 64;

struct HeatCell {
    std::int32_t rank = 0;
    double share = 0; ///< of the rank's window
    bool operator==(const HeatCell&) const = default;
};

/// One leaf of every rank, in rows of nodes.
struct RankHeat {
    struct Node {
        QString name;
        std::vector<HeatCell> cells; ///< by rank
    };
    Leaf leaf = Leaf::Wait;
    /// Where there is little compute something is wrong, and who waits least is whom the others wait for.
    bool lowIsBad = false;
    std::vector<Node> nodes; ///< in the order of their first ranks
    double lowest = 0;
    double highest = 0;
    double lowerQuartile = 0, upperQuartile = 0; ///< half of the ranks lie between
    std::vector<HeatCell> worst; ///< who stands out for the worse, the worst first

    /// "rank 7 71.2 %, node b (8 ranks, at worst 40.1 %) and 3 more": nodes all of whose ranks stand out in the place
    /// of those; "no rank stands out: half of them lie between 12.0 % and 13.1 %".
    QString worstText() const;

    /// 0 good .. kHeatSteps - 1 bad, by where the share lies between lowest and highest.
    int stepOf(double share) const;
};
RankHeat rankHeat(const std::vector<RankRow>& rows, Leaf leaf);

/// The leaves that the ranks have, what most is lost in first, compute last.
std::vector<Leaf> heatLeaves(const std::vector<RankRow>& rows);

} // namespace rankscope::app
