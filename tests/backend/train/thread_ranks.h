#pragma once

#include "backend/train/trainer.h"

#include <functional>
#include <vector>

namespace rankscope::backend::test {

/// A tiny model on a global batch of 8 sequences and 20 steps, on one rank unless changed: layouts share the batch by
/// splitBatch().
Config tinyConfig();
/// As tinyConfig with `dp` replicas and `pp` stages.
Config tinyConfig(int dp, int pp);
/// The same global batch for however many replicas.
void splitBatch(Config& config);

struct Outcome {
    std::vector<double> losses, norms, heldOut; ///< by step or validation
};

/// Runs `body` on each rank's trainer, each rank a thread with one compute thread.
void onRanks(const Config& config, const std::function<void(int rank, Trainer& trainer)>& body);
/// What each rank reports, of all steps or of the first `stopAfter`.
std::vector<Outcome> train(const Config& config, std::int64_t stopAfter = 0);

/// Each value is within `bound` of the truth, relative.
void expectClose(const std::vector<double>& values, const std::vector<double>& truth, double bound);

} // namespace rankscope::backend::test
