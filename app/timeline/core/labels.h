#pragma once

#include "app/timeline/core/records.h"
#include "app/timeline/core/run_facts.h"
#include "app/timeline/core/selection.h"

#include <string>
#include <vector>

namespace rankscope::app::timeline {

/// Ways to say the same, the longest first: the one that fits is shown, and if none does, the shortest is cut.
using Wordings = std::vector<std::string>;

/// Text inside a span: letter first on waste, then what and how long.
Wordings spanLabel(const SpanRecord& span, const RunFacts& facts);
Wordings waitLabel(const SpanRecord& span); ///< of a matched collective: "W 1.00 s waiting for rank 2"
Wordings transferLabel(const SpanRecord& span); ///< "T 12.1 ms"

/// Name by which spans count as the same: hovering one outlines all.
std::string spanName(const SpanRecord& span, const RunFacts& facts);

/// Lines of the hover text; the first is the name.
std::vector<std::string> hoverLines(const Hit& hit, const RunFacts& facts);

/// What a counter's lane spans: "3.83 to 5.55", "56.1 MB to 60.1 MB".
std::string counterRange(const LaneContent& content, const std::string& unit);

/// Sticky texts of the title column.
/// "late 12x  pp 0  dp 1"; empty where there is nothing to say.
Wordings rankTags(const tracing::RankInfo& rank, std::int64_t lateCount);
std::string laneTitle(const tracing::Lane& lane);

} // namespace rankscope::app::timeline
