#include "tracing/analysis/ledger/largest_remainder.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace rankscope::tracing::ledger {

namespace {

__extension__ using Wide = __int128;

std::int64_t narrow(Wide value)
{
    constexpr Wide kMax = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(value, kMax));
}

} // namespace

std::int64_t mulDiv(std::int64_t a, std::int64_t b, std::int64_t c) { return narrow(static_cast<Wide>(a) * b / c); }

std::int64_t mulDivHalfUp(std::int64_t a, std::int64_t b, std::int64_t c)
{
    return narrow((static_cast<Wide>(a) * b * 2 + c) / (static_cast<Wide>(c) * 2));
}

std::vector<std::int64_t> largestRemainder(std::int64_t n, std::span<const std::int64_t> weights)
{
    std::vector<std::int64_t> parts(weights.size(), 0);
    const Wide sum = std::accumulate(weights.begin(), weights.end(), Wide{ 0 });
    if (sum <= 0 || n <= 0)
        return parts;
    std::vector<Wide> remainders(weights.size());
    std::int64_t missing = n;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const Wide product = static_cast<Wide>(n) * weights[i];
        parts[i] = static_cast<std::int64_t>(product / sum);
        remainders[i] = product % sum;
        missing -= parts[i];
    }
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{ 0 });
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
    for (std::size_t i = 0; missing > 0; ++i, --missing)
        ++parts[order[i]];
    return parts;
}

} // namespace rankscope::tracing::ledger
