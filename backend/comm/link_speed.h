#pragma once

#include "backend/comm/transport.h"

#include <chrono>
#include <vector>

namespace rankscope::backend {

/// How fast messages get from this rank to another one.
struct MeasuredLink {
    int to = 0;
    std::chrono::nanoseconds latency{}; ///< half of the best round trip of a small message
    double bytesPerSecond = 0; ///< of the best large message, besides that
};

/// Measures the way to all other ranks; all call it at once, after a barrier. In each of n - 1 rounds all ranks are
/// paired up, so that links are as busy as in a collective. Takes about a tenth of a second at most, if no link is
/// slower than a few Mbit/s. Nothing of it is recorded.
std::vector<MeasuredLink> measureLinks(Transport& transport);

} // namespace rankscope::backend
