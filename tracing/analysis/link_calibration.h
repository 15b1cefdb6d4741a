#pragma once

#include "tracing/analysis/ledger/ledger_input.h"
#include "tracing/model/rows.h"

#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace rankscope::tracing {

using RankPair = std::pair<std::int32_t, std::int32_t>;

/// Sender and receiver of each link that an exchange goes over: of a message its own; of a collective the neighbours on
/// the ring of its members; of an all-to-all all pairs; with a root those from or to it. None where members are
/// unknown.
std::vector<RankPair> linksOf(const ledger::Instance& instance);

/// What an exchange could reach at best, from the links that were measured at the start of the run: it is as slow as
/// the slowest of those that it goes over. METRICS 5.3, busbw_ref.
class LinkCalibration {
public:
    explicit LinkCalibration(std::span<const LinkSpeed> links);

    /// None where one of its links was not measured.
    std::optional<ledger::Calibration> of(const ledger::Instance& instance);

private:
    std::optional<ledger::Calibration> slowest(const ledger::Instance& instance) const;

    std::map<RankPair, LinkSpeed> links_; ///< by sender and receiver
    using Key = std::tuple<std::int64_t, CollectiveOp, std::optional<std::int32_t>, std::optional<std::int32_t>>;
    std::map<Key, std::optional<ledger::Calibration>> known_; ///< by communicator, operation, root or sender, receiver
};

} // namespace rankscope::tracing
