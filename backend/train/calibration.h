#pragma once

#include "backend/model/gpt_config.h"

namespace rankscope::backend {

/// FLOP/s that this rank reaches in a large matrix product of such numbers with a core for each thread it has: the best
/// of a few, about 0.1 s in all. By CPU time, not by the clock on the wall: on a busy machine the peak stays what the
/// cores can do, and time without a core is waste that the ledger shows. All ranks of a node measure at once, so that
/// shared memory counts.
double measurePeakFlops(Numbers numbers);

} // namespace rankscope::backend
