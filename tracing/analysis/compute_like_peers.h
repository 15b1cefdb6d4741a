#pragma once

#include "tracing/analysis/ledger/replay.h"

#include <array>
#include <cstddef>
#include <vector>

namespace rankscope::tracing {

/// What stays of each kernel of a rank, by index, once the rank computes like the fastest, the median and the slowest
/// of its peers. Kernels are compared with those of the same pass, type, threads and work (FLOP and bytes): their mean
/// time becomes the peer's. What only one of both computes, such as a stage's loss, and what does not say its work, is
/// compared as a whole and does not get longer. A peer that would be slower in all changes nothing. The optimizer's
/// kernels stay; ranks are indices.
std::array<std::vector<ledger::Ratio>, 3> computeLikePeers(
    const ledger::LedgerInput& input, std::size_t rank, const std::vector<std::size_t>& peers);

} // namespace rankscope::tracing
