#pragma once

#include <vector>

namespace rankscope::app {

/// Round values (1, 2, 5 times a power of ten) inside [low, high], about `most` of them at the most.
std::vector<double> roundTicks(double low, double high, int most);

/// The same for counted things: whole numbers only.
std::vector<double> wholeTicks(double low, double high, int most);

} // namespace rankscope::app
