#include "app/timeline/core/minimap.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {

using tracing::SpanClass;

MinimapBuilder::MinimapBuilder(tracing::Window window, int columns)
    : window_(window)
    , columnNs_(std::max(1.0, static_cast<double>(window.durationNs()) / std::max(1, columns)))
    , compute_(static_cast<std::size_t>(std::max(1, columns)))
    , waiting_(compute_.size())
{
}

void MinimapBuilder::spread(std::int64_t beginNs, std::int64_t endNs, double share, std::vector<double>& columns)
{
    const double from = std::max(0.0, static_cast<double>(beginNs - window_.beginNs));
    const double to
        = std::min(static_cast<double>(endNs - window_.beginNs), columnNs_ * static_cast<double>(columns.size()));
    auto column = static_cast<std::size_t>(from / columnNs_);
    for (; column < columns.size() && static_cast<double>(column) * columnNs_ < to; ++column) {
        const double left = static_cast<double>(column) * columnNs_;
        columns[column] += share * std::max(0.0, std::min(to, left + columnNs_) - std::max(from, left));
    }
}

void MinimapBuilder::spreadClass(SpanClass spanClass, std::int64_t beginNs, std::int64_t endNs, double share)
{
    switch (spanClass) {
    case SpanClass::Compute:
    case SpanClass::Recompute:
    case SpanClass::Optimizer:
        spread(beginNs, endNs, share, compute_);
        break;
    case SpanClass::Wait:
    case SpanClass::Bubble:
    case SpanClass::Imbalance:
        spread(beginNs, endNs, share, waiting_);
        break;
    default:
        break;
    }
}

void MinimapBuilder::add(const LaneContent& content)
{
    for (const SpanRecord& span : content.spans) {
        if (span.row == RowKind::Collective && span.matched)
            spread(span.beginNs, span.splitNs, 1, waiting_);
        else
            spreadClass(span.spanClass, span.beginNs, span.endNs, 1);
    }
    for (const FoldRecord& fold : content.folds) {
        const double share = static_cast<double>(fold.busyNs)
            / static_cast<double>(std::max<std::int64_t>(1, fold.endNs - fold.beginNs));
        spreadClass(fold.cover, fold.beginNs, fold.endNs, share);
    }
}

Minimap MinimapBuilder::finish(int ranks) const
{
    Minimap map;
    map.window = window_;
    const double whole = columnNs_ * std::max(1, ranks);
    for (std::size_t i = 0; i < compute_.size(); ++i) {
        const double compute = std::min(1.0, compute_[i] / whole);
        map.compute.push_back(static_cast<float>(compute));
        map.waiting.push_back(static_cast<float>(std::min(1.0 - compute, waiting_[i] / whole)));
    }
    return map;
}

} // namespace rankscope::app::timeline
