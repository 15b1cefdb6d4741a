#pragma once

#include "tracing/model/rows.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::tracing {

/// Set of instants as stretches that are sorted, disjoint, not touching and not empty. All functions below take and
/// give such sets, in linear time; overlap and exposed communication are counted with them, never with sums of
/// durations.
using Intervals = std::vector<Window>;

/// Any stretches, in any order, overlapping or empty, as a set.
Intervals unionOf(std::vector<Window> stretches);

Intervals intersection(std::span<const Window> a, std::span<const Window> b);
Intervals difference(std::span<const Window> a, std::span<const Window> b); ///< what is in a and not in b
Intervals clipped(std::span<const Window> a, Window window);
std::int64_t totalNs(std::span<const Window> a);
bool covers(std::span<const Window> a, std::int64_t at); ///< whether the instant is in the set
/// Appends the ends of the set's stretches that lie strictly inside (beginNs, endNs).
void cutsWithin(std::span<const Window> a, std::int64_t beginNs, std::int64_t endNs, std::vector<std::int64_t>& cuts);

} // namespace rankscope::tracing
