#pragma once

#include "tracing/analysis/ledger/ledger_result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace rankscope::tracing::ledger {

class InstanceIndex;

/// A recorded run as a graph of what waits for what, without times: made once, replayed with any number of changes,
/// also by several threads at once. Refers to what it is made of. Some 28 bytes an operation.
///
/// Operations are numbered rank after rank, of each its compute, copies and parts as in the input. Each has two nodes,
/// its begin and its end. A begin waits for the local operations that ended last before it; an end waits for its own
/// begin and for the begins that the part depends on.
class ReplayGraph {
public:
    using Op = std::uint32_t;
    static constexpr std::size_t kMostOps = std::size_t{ 1 } << 29; ///< nodes have 32 bits

    /// `recorded` is the ledger of the same input: its splits and segments are used.
    ReplayGraph(const LedgerInput& input, const LedgerResult& recorded);

    const LedgerInput& input() const { return input_; }
    const LedgerResult& recorded() const { return recorded_; }

    /// Where a rank's operations stand.
    struct Place {
        Op compute = 0, copies = 0, parts = 0, end = 0;
    };
    const std::vector<Place>& places() const { return places_; }
    std::size_t opCount() const { return places_.empty() ? 0 : places_.back().end; }
    std::size_t rankOf(Op op) const;

    /// As recorded, and cut at the end of what was recorded.
    struct Times {
        Ns begin = 0;
        Ns end = 0;
    };
    const Times& times(Op op) const { return times_[op]; }
    Ns originOf(std::size_t rank) const;

    /// What a begin waits for: nothing (the rank's origin), the end of one operation, or several ends at one instant.
    struct Source {
        std::uint32_t code = kNothing;
        static constexpr std::uint32_t kNothing = ~0u, kJoin = 1u << 31;
        bool isNothing() const { return code == kNothing; }
        bool isJoin() const { return !isNothing() && (code & kJoin) != 0; }
        std::uint32_t index() const { return code & ~kJoin; } ///< of the operation or the join
    };
    Source sourceOf(Op op) const { return sources_[op]; }
    /// Operations that end at one instant.
    std::span<const Op> join(std::uint32_t index) const
    {
        return std::span(joined_).subspan(joins_[index], joins_[index + 1] - joins_[index]);
    }
    std::size_t joinCount() const { return joins_.size() - 1; }
    /// Operations whose begins a part's end waits for.
    std::span<const Op> awaited(std::size_t rank, Op part) const;

    /// A message that was sent ahead of its receiver: it is there `flight` after its sending began.
    struct Message {
        Op sender = 0;
        Ns flight = 0; ///< as recorded
        Ns own = 0; ///< length of the receiving part beyond its begin
    };
    const Message* messageOf(Op part) const;

    /// Begins (2 * op), ends (2 * op + 1) and joins (2 * opCount() + index), each behind all that it waits for. What
    /// waits for itself, in a damaged file, stands in stuck().
    std::span<const std::uint32_t> order() const { return order_; }
    std::span<const std::uint32_t> stuck() const { return stuck_; }

private:
    Times recordedTimes(std::size_t rank, Op op) const;
    void linkRank(std::size_t rank);
    void linkParts(const InstanceIndex& index);
    void linkMessages();
    void sortNodes();
    /// The nodes that a node waits for, one by one; none behind the last.
    std::optional<std::uint32_t> dependency(std::uint32_t node, std::size_t which) const;

    const LedgerInput& input_;
    const LedgerResult& recorded_;
    std::vector<Place> places_;
    std::vector<Times> times_; ///< by operation
    std::vector<Source> sources_; ///< by operation
    std::vector<Op> joined_;
    std::vector<std::size_t> joins_{ 0 }; ///< where each begins in joined_
    std::vector<std::size_t> firstPart_; ///< number of the rank's first part among all ranks'
    std::vector<Op> awaited_;
    std::vector<std::size_t> awaitedFrom_{ 0 }; ///< by part of all ranks: where its operations begin in awaited_
    std::unordered_map<Op, Message> messages_; ///< by the receiving part
    std::vector<std::uint32_t> order_, stuck_;
};

} // namespace rankscope::tracing::ledger
