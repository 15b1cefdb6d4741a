#pragma once

#include "app/timeline/core/records.h"
#include "tracing/model/rows.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::app::timeline {

/// A drawn thing under the pointer.
struct Hit {
    std::int32_t rank = 0;
    tracing::LaneId lane{};
    std::optional<SpanRecord> span;
    std::optional<FoldRecord> fold;
    std::optional<CounterRecord> sample;
    bool ledger = false; ///< the rank's ledger lane, not a lane of the file
};

/// One rank's part of the selected collective.
struct SelectedPart {
    std::int32_t rank = 0;
    tracing::CollectivePart part;
};

/// What a person selected; the details dock shows it.
struct Selection {
    std::optional<Hit> hit;
    std::string name; ///< of the span
    std::vector<SelectedPart> parts; ///< collectives: all ranks' parts, by rank
    std::optional<tracing::CollectiveMatch> match; ///< collectives, where known
    std::optional<tracing::Window> area; ///< a stretch of time marked by a drag

    bool empty() const { return !hit && !area; }
    std::int64_t instance() const { return hit && hit->span ? hit->span->instance : -1; }
};

} // namespace rankscope::app::timeline
