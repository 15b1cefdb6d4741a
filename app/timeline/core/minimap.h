#pragma once

#include "app/timeline/core/records.h"
#include "tracing/model/rows.h"

#include <vector>

namespace rankscope::app::timeline {

/// The whole run in columns: mean share of the ranks that compute, and that wait in collectives or bubbles.
struct Minimap {
    tracing::Window window;
    std::vector<float> compute; ///< 0 to 1 a column
    std::vector<float> waiting;
};

/// Adds up the contents of compute and communication lanes of `ranks` ranks.
class MinimapBuilder {
public:
    MinimapBuilder(tracing::Window window, int columns);
    void add(const LaneContent& content);
    Minimap finish(int ranks) const;

private:
    void spread(std::int64_t beginNs, std::int64_t endNs, double share, std::vector<double>& columns);
    void spreadClass(tracing::SpanClass spanClass, std::int64_t beginNs, std::int64_t endNs, double share);

    tracing::Window window_;
    double columnNs_;
    std::vector<double> compute_; ///< rank-ns a column
    std::vector<double> waiting_;
};

} // namespace rankscope::app::timeline
