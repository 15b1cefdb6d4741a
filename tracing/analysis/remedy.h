#pragma once

#include "tracing/analysis/ledger/replay.h"
#include "tracing/analysis/replayed_time.h"
#include "tracing/model/rows.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// What the counted steps of a run would last after a change, by replaying it (METRICS 6); without steps the run.
struct Prediction {
    std::int64_t baselineNs = 0; ///< as recorded
    std::int64_t predictedNs = 0;
    std::int64_t lowNs = 0; ///< shortest and longest by the choices that the change leaves open
    std::int64_t highNs = 0;

    std::int64_t savedNs() const { return baselineNs - predictedNs; }
    double savedShare() const
    {
        return baselineNs > 0 ? static_cast<double>(savedNs()) / static_cast<double>(baselineNs) : 0;
    }
    bool operator==(const Prediction&) const = default;
};

/// A run that can be replayed with changes. Refers to what it is made of.
class Remedies {
public:
    /// `counted`: the stretches whose time is predicted, such as the counted steps; empty: from the first begin to the
    /// last end of any operation.
    Remedies(const ledger::LedgerInput& input, const ledger::LedgerResult& recorded, std::vector<Window> counted = {});

    /// Whether the run holds any operation, and not more than a graph can have.
    bool canReplay() const { return graph_.has_value(); }

    Prediction of(const ledger::ReplayChange& change) const;

    /// Rank `culprit` spends as much time on `cause` (a word of METRICS 5.3: "compute", "host", "data", ...) as the
    /// median of its peers does; low and high: as the fastest and the slowest of them. Peers are the ranks of its
    /// stage, else all others. None where it is not slower than they are, where nobody can be compared, or where the
    /// cause is none that a rank could be cured of.
    std::optional<Prediction> withoutCause(std::int32_t culprit, std::string_view cause) const;
    /// The rank's compute and all its gaps are as long as its peers': the fastest's, the median's, the slowest's, never
    /// longer than its own. None: there is no such rank, or it has no peers.
    std::optional<std::array<ledger::ReplayChange, 3>> likePeers(std::int32_t rank) const;
    /// No rank waits for its host, its data, ...: every gap of that label is gone.
    std::optional<Prediction> withoutGaps(ledger::Label label) const;
    /// Transfers take a share of their time only.
    std::optional<Prediction> withTransfer(Dimension dimension, ledger::Ratio kept) const;
    /// All transfers take no time.
    std::optional<Prediction> withoutTransfers() const;
    /// Every kernel has a core for each of its threads.
    std::optional<Prediction> withCores() const;

    /// Time of a rank (by index) under a label.
    std::int64_t timeOf(std::size_t rank, ledger::Label label) const;

private:
    std::vector<std::size_t> peersOf(std::size_t rank) const;
    /// Begins of the sections of each of these ranks: a row a rank, all of one length.
    std::vector<std::vector<std::int64_t>> sections(const std::vector<std::size_t>& ranks) const;
    /// The rank's gaps as long as the peers': place 0 for the shortest, 1 for the median, 2 for the longest of them.
    std::array<ledger::ReplayChange, 3> gapsLikePeers(
        std::size_t rank, const std::vector<std::size_t>& peers, ledger::Label label) const;

    const ledger::LedgerInput& input_;
    const ledger::LedgerResult& recorded_;
    std::vector<Window> counted_;
    std::optional<ledger::ReplayGraph> graph_;
    std::optional<ReplayedTime> time_; ///< with the graph
    std::vector<std::array<std::int64_t, ledger::kLabelCount>> times_; ///< by rank index and label
    std::int64_t baselineNs_ = 0;
};

} // namespace rankscope::tracing
