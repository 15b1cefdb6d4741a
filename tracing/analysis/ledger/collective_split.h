#pragma once

#include "tracing/analysis/ledger/ledger_result.h"

#include <unordered_map>

namespace rankscope::tracing::ledger {

/// Where the parts of each instance are, and who depends on whom.
class InstanceIndex {
public:
    explicit InstanceIndex(const LedgerInput& input);

    struct PartRef {
        std::int32_t rank = 0; ///< index into LedgerInput::ranks
        std::size_t part = 0; ///< index into its parts
        Ns entry = 0;
        Ns exit = 0;
    };
    /// Parts present, by rank index.
    const std::vector<PartRef>& parts(std::size_t instance) const { return parts_[instance]; }
    /// E* of METRICS: latest entry of any member present.
    Ns lastEntry(std::size_t instance) const { return lastEntry_[instance]; }
    /// Instances that have parts, in the order of METRICS: (E*, communicator, sequence).
    const std::vector<std::size_t>& order() const { return order_; }
    /// Index of a world rank into LedgerInput::ranks; none: not in the file.
    std::optional<std::int32_t> rankIndex(std::int32_t worldRank) const;

    /// Whether rank's exit from the instance depends on the peer's entry (world ranks; peer != rank).
    bool dependsOn(std::size_t instance, std::int32_t rank, std::int32_t peer) const;
    /// Members other than rank that its exit depends on: how many the group has, present or not.
    std::int32_t dependencyCount(std::size_t instance, std::int32_t rank) const;

    /// Largest E* <= limit over the instances in which both ranks (indices) took part, from `floor` on; none: floor.
    Ns lastSharedEntry(std::int32_t a, std::int32_t b, Ns limit, Ns floor) const;

private:
    const LedgerInput& input_;
    std::unordered_map<std::int32_t, std::int32_t> rankIndex_;
    std::vector<std::vector<PartRef>> parts_;
    std::vector<Ns> lastEntry_;
    std::vector<std::size_t> order_;
    std::vector<std::vector<std::int32_t>> groupsOfRank_; ///< group numbers by rank index
    std::vector<std::vector<std::size_t>> groups_; ///< instances with the same parts present, by E*
    std::vector<std::vector<bool>> inGroup_; ///< by group, then rank index
};

/// Splits every part in wait and transfer, measured and at both ends of the clock's error; fills ranks[].parts and
/// counters.
void splitCollectives(const LedgerInput& input, const InstanceIndex& index, LedgerResult& result);

/// alpha * hops + factor * size / busbw, rounded half up (METRICS 4.1, 5.3).
Ns idealTransfer(const Instance& instance, const Calibration& calibration);

} // namespace rankscope::tracing::ledger
