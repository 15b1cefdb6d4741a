#pragma once

#include "tracing/analysis/ledger/ledger_input.h"

#include <vector>

namespace rankscope::tracing::ledger {

struct Interval {
    Ns begin = 0;
    Ns end = 0;
};

/// Disjoint and ordered; empty and negative ones drop out.
std::vector<Interval> unite(std::vector<Interval> intervals);
/// Both disjoint and ordered.
std::vector<Interval> intersect(const std::vector<Interval>& a, const std::vector<Interval>& b);
Ns lengthOf(const std::vector<Interval>& disjoint);
/// Whether a disjoint, ordered list contains the instant.
bool covers(const std::vector<Interval>& disjoint, Ns at);
/// Appends the ends of the list that lie strictly inside (begin, end).
void cutsWithin(const std::vector<Interval>& disjoint, Ns begin, Ns end, std::vector<Ns>& cuts);

} // namespace rankscope::tracing::ledger
