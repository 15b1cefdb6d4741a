#pragma once

namespace rankscope::backend {

/// FLOP/s that this rank reaches in a large fp32 matrix product with the threads it has: the best of a few, about 0.1 s
/// in all. All ranks of a node measure at once, so that shared cores and memory count.
double measurePeakFlops();

} // namespace rankscope::backend
