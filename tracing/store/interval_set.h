#pragma once

#include "tracing/model/rows.h"

#include <cstddef>
#include <deque>
#include <vector>

namespace rankscope::tracing {

/// The union of the spans of a lane. Adding one tells what of it was not covered before: so busy time is a union, and a
/// range that ends after the ranges inside it is left with its own time. Spans that come in order cost O(1).
class IntervalSet {
public:
    /// Beyond `most` intervals the two oldest become one, as if the gap between them were covered.
    explicit IntervalSet(std::size_t most = 65536)
        : most_(most)
    {
    }

    /// Appends the parts of `span` that were not covered to `fresh`, in order.
    void add(Window span, std::vector<Window>& fresh);
    std::size_t size() const { return intervals_.size(); }

private:
    std::deque<Window> intervals_; ///< disjoint, not touching, ascending
    std::size_t most_;
};

} // namespace rankscope::tracing
