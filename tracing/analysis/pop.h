#pragma once

#include <cstdint>

namespace rankscope::tracing {

/// What the efficiencies of the POP project are made of (METRICS 5.2, 5.3), for people who know them. Unlike the ledger
/// they multiply and say nothing of absolute compute. Compute is the ledger's, what the scheduler took apart.
struct PopTimes {
    std::int64_t ranks = 0;
    std::int64_t computeNs = 0; ///< sum over ranks
    std::int64_t mostComputeNs = 0; ///< of one rank
    std::int64_t elapsedNs = 0;
    std::int64_t withoutTransferNs = 0; ///< elapsed on a network that takes no time, by replay

    /// Mean compute of a rank over the most of any.
    double loadBalance() const { return ratio(computeNs, ranks * mostComputeNs); }
    /// The most compute of a rank over the time that it all took; serialisation times transfer.
    double communication() const { return ratio(mostComputeNs, elapsedNs); }
    double transfer() const { return ratio(withoutTransferNs, elapsedNs); }
    double serialisation() const { return ratio(mostComputeNs, withoutTransferNs); }
    /// Load balance times communication: mean compute over the time.
    double parallel() const { return loadBalance() * communication(); }
    bool operator==(const PopTimes&) const = default;

private:
    static double ratio(std::int64_t part, std::int64_t whole)
    {
        return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
    }
};

} // namespace rankscope::tracing
