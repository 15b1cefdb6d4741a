#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::tracing::ledger {

/// LR(n; w_1..w_k) of METRICS 5.3: divides n >= 0 into integer parts proportional to the weights (>= 0) that sum to n.
/// Parts are floor(n * w_i / sum w); the missing ones go one each to the largest remainders, ties to the earlier item.
/// All weights 0: all parts 0 (the caller books n elsewhere).
std::vector<std::int64_t> largestRemainder(std::int64_t n, std::span<const std::int64_t> weights);

/// floor(a * b / c) in 128 bits, for a, b >= 0 and c > 0.
std::int64_t mulDiv(std::int64_t a, std::int64_t b, std::int64_t c);

/// a * b / c rounded half up, in 128 bits, for a, b >= 0 and c > 0.
std::int64_t mulDivHalfUp(std::int64_t a, std::int64_t b, std::int64_t c);

} // namespace rankscope::tracing::ledger
