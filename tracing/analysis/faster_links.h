#pragma once

#include "tracing/analysis/ledger/replay.h"
#include "tracing/model/rows.h"

#include <optional>
#include <span>
#include <vector>

namespace rankscope::tracing {

/// What stays of each exchange's transfer, by instance, when the links that the exchanges of `dimension` go over (none:
/// all links) take `kept` of their time, in latency and for each byte. A link is between two ranks: whatever else goes
/// over it, such as a sum over all ranks, gains as well. Where only some of an exchange's links are faster, it keeps
/// what METRICS 5.3's ideal time does, by the measured `links`; where those are not known, everything.
std::vector<ledger::Ratio> transfersOverFasterLinks(const ledger::LedgerInput& input, std::span<const LinkSpeed> links,
    std::optional<Dimension> dimension, ledger::Ratio kept);

} // namespace rankscope::tracing
