#pragma once

#include "backend/comm/mesh.h"
#include "backend/model/gpt_stage.h"
#include "backend/schedule/schedule.h"
#include "backend/train/config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::backend {

/// What one rank will hold.
struct RankPlan {
    int rank = 0;
    MeshPlace place;
    std::vector<GptStage::Options::Chunk> chunks;
    std::int64_t parameters = 0;
    std::int64_t weightBytes = 0; ///< values and gradients, and the values in bf16 where they are multiplied in that
    std::int64_t optimizerBytes = 0; ///< AdamW's two moments, or this replica's share of them
    std::int64_t activationBytes = 0; ///< micro-batches that the schedule keeps at once

    std::int64_t bytes() const { return weightBytes + optimizerBytes + activationBytes; }
};

/// What a configuration means, worked out without starting anything.
struct Layout {
    Mesh mesh;
    Schedule schedule;
    std::vector<RankPlan> ranks;
    std::int64_t parameters = 0; ///< of the whole model
};

/// All reasons why this configuration cannot run: each one line that names the key and what would do. Does not look at
/// the data's content, only whether its path can be read.
std::vector<std::string> problemsOf(const Config& config);

/// A layout with fewer replicas in which the same training goes on: the same global batch, more of it on each.
struct Smaller {
    int ranks = 0;
    int dp = 0;
    int microBatches = 0;
};
/// Those that are possible, the largest first.
std::vector<Smaller> smallerLayouts(const Config& config);

/// A restart may have fewer ranks than the configuration speaks of: faults and links of the others are gone.
void forgetMissingRanks(Config& config);

/// What will work but not well on this machine.
std::vector<std::string> warningsOf(const Config& config);

/// The parts of the model that a stage holds, each with room for the micro-batches that the schedule keeps at once.
std::vector<GptStage::Options::Chunk> chunksOf(const Config& config, const Schedule& schedule, int stage);

/// A configuration without problems, laid out.
Layout layOut(const Config& config);

Schedule scheduleOf(const Config& config);
Recompute recomputeOf(const Config& config);
Numbers numbersOf(const Config& config);

/// Cores that this process may use.
int availableCores();
/// Threads of a rank: train.threads, else OMP_NUM_THREADS, else the cores divided by the ranks of this node, at
/// least 1.
int threadsOf(const Config& config, int ranksOnNode);

} // namespace rankscope::backend
