#pragma once

#include "tracing/analysis/time_split.h"

#include <vector>

namespace rankscope::tracing {

/// A rank without a core does not only lose time inside kernels: it is preempted between them too, and more often where
/// it yields. What a forward, backward or optimizer range lost (wall less CPU time) beyond its kernels' own loss and
/// its communication is booked as descheduled on the gaps inside it, in proportion to their lengths. `intervals` tile
/// `window`; only ranges that lie in it as a whole are booked.
void bookDescheduledGaps(std::vector<LabelledInterval>& intervals, const std::vector<Range>& ranges, Window window);

} // namespace rankscope::tracing
