#pragma once

#include "backend/comm/communicator.h"
#include "backend/model/gpt_stage.h"
#include "backend/parallel/learning_rate.h"
#include "kernels/adamw.h"
#include "tracing/record/recorder.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace rankscope::backend {

/// AdamW on one stage's parameters or on shards of them, with the gradient clipped by its norm over all stages (Pascanu
/// et al. 2013).
class Optimizer {
public:
    struct Settings {
        LearningRate learningRate;
        double beta1 = 0.9, beta2 = 0.95;
        double weightDecay = 0.1; ///< of matrices only
        double clip = 1; ///< greatest norm of the gradient; 0: unlimited
    };

    /// `shards` ascend among the stage's values; what they leave out is another rank's to update.
    Optimizer(const Settings& settings, GptStage& stage, std::vector<Segment> shards, tracing::Recorder& recorder);

    /// Sum of the squares of the shards' gradients. What all tensor-parallel ranks hold alike counts where
    /// `countsReplicated`, what all replicas hold alike where `countsShared`, so that a sum over them counts it once.
    double squaredNorm(bool countsReplicated, bool countsShared) const;
    /// One update; `step` counts from 0, `norm` is the gradient's over all stages. The shards' turn comes from the last
    /// to the first, as the next forward pass needs their values, and `updated` is told after each.
    void update(std::int64_t step, double norm, const std::function<void(std::size_t shard)>& updated = {});

    std::span<const Segment> shards() const { return shards_; }
    /// AdamW's running means of the gradient and of its square, those of the shards one after the other.
    std::span<float> moment1() { return moment1_; }
    std::span<float> moment2() { return moment2_; }

private:
    void update(std::size_t shard, const kernels::AdamwSettings& settings);
    tracing::KernelInfo kernelInfo(tracing::LocalName name, double flop, double bytes) const;

    Settings settings_;
    GptStage& stage_;
    tracing::Recorder& recorder_;
    std::vector<Segment> shards_;
    std::vector<std::size_t> offsets_; ///< of the shards' moments
    std::vector<float> moment1_, moment2_;
    std::uint16_t threads_;
    struct Names {
        tracing::LocalName norm, adamw;
    } names_;
};

} // namespace rankscope::backend
