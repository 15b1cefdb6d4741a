#pragma once

#include "tests/support/trace_builder.h"

#include <filesystem>

namespace rankscope::app {

/// Two ranks, two pipeline stages, steps of 100 ms from step 1 on. In each step, in ms:
///   rank 0: compute 0-60, all-reduce 60-90 (waits for rank 1 until 80), nothing 90-100
///   rank 1: bubble 0-10 for rank 0, compute 10-80, all-reduce 80-90, nothing 90-100
/// So a step has 200 rank-ms: compute 130 (65 %), wait 20 (10 %), transfer 20 (10 %) and 30 (15 %) before the next kernel,
/// of which the last step's 20 are tail. The loss after step k is 2 + 3/k, the held-out loss stands 0.1 above it.
inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr std::int64_t kStepNs = 100 * kMs;

void addStep(support::TraceBuilder& trace, int step);

/// Steps 1 to `steps`, closed.
void writeSampleRun(const std::filesystem::path& file, int steps = 5);

} // namespace rankscope::app
