#pragma once

#include "app/timeline/core/run_facts.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace rankscope::app::timeline {

/// One strip of the canvas. Tops count from the top of the lanes, before scrolling.
struct Box {
    enum class Kind : std::uint8_t { RankTitle, FoldedRank, Ledger, Lane };
    Kind kind = Kind::Lane;
    std::int32_t rank = 0;
    int rankOrder = 0; ///< counts the ranks from the top: every second one has another ground
    std::optional<std::size_t> lane; ///< index into RunFacts::lanes
    float top = 0;
    float height = 0;
    int levels = 1; ///< sub-rows, or depths of a host lane

    float bottom() const { return top + height; }
    bool showsRankSummary() const { return kind == Kind::Ledger || kind == Kind::FoldedRank; }
};

/// Top and height of a level inside its box.
struct LevelPlace {
    float top = 0;
    float height = 0;
};
LevelPlace placeOf(const Box& box, tracing::LaneKind kind, int level);

/// Stacks ranks and their lanes: compute, communication (one a dimension), copies, host by depth, counters.
class LaneLayout {
public:
    struct Options {
        std::set<std::int32_t> folded; ///< ranks shown as one row
        std::map<tracing::LaneId, int> levels; ///< known so far; absent: 1
        bool ledger = false; ///< a ledger lane a rank
    };

    LaneLayout() = default;
    LaneLayout(const RunFacts& facts, const Options& options);

    const std::vector<Box>& boxes() const { return boxes_; }
    float height() const { return height_; }
    const Box* boxAt(float y) const; ///< nullptr in a gap
    /// Top and bottom of all that belongs to a rank; {0, 0} for an unknown one.
    std::pair<float, float> extentOf(std::int32_t rank) const;

private:
    void addRank(const RunFacts& facts, const Options& options, std::int32_t rank, int order);

    std::vector<Box> boxes_;
    float height_ = 0;
};

} // namespace rankscope::app::timeline
