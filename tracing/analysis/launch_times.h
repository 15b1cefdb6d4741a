#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace rankscope::tracing {

/// When a rank's host launched what: the begins of its calls by their correlation.
class LaunchTimes {
public:
    void add(std::int64_t correlation, std::int64_t beginNs) { calls_.emplace_back(correlation, beginNs); }
    /// After the last add(), before the first find().
    void finish();
    bool empty() const { return calls_.empty(); }

    /// A correlation may have several calls; the one that launches begins first. Fast for correlations that rise.
    std::optional<std::int64_t> find(std::int64_t correlation);

private:
    std::vector<std::pair<std::int64_t, std::int64_t>> calls_; ///< correlation, begin
    std::size_t last_ = 0; ///< found last
};

} // namespace rankscope::tracing
