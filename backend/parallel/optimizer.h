#pragma once

#include "backend/model/gpt_stage.h"
#include "backend/parallel/learning_rate.h"
#include "tracing/record/recorder.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::backend {

/// AdamW on one stage's parameters, with the gradient clipped by its norm over all stages (Pascanu et al. 2013).
class Optimizer {
public:
    struct Settings {
        LearningRate learningRate;
        double beta1 = 0.9, beta2 = 0.95;
        double weightDecay = 0.1; ///< of matrices only
        double clip = 1; ///< greatest norm of the gradient; 0: unlimited
    };

    Optimizer(const Settings& settings, GptStage& stage, tracing::Recorder& recorder);

    /// Sum of the squares of this stage's gradients. What all tensor-parallel ranks hold alike counts where
    /// `countsReplicated`, so that a sum over them counts it once.
    double squaredNorm(bool countsReplicated) const;
    /// One update; `step` counts from 0, `norm` is the gradient's over all stages.
    void update(std::int64_t step, double norm);

    /// AdamW's running means of the gradient and of its square, as long as the stage's values and in their order.
    std::span<float> moment1() { return moment1_; }
    std::span<float> moment2() { return moment2_; }

private:
    tracing::KernelInfo kernelInfo(tracing::LocalName name, double flop, double bytes) const;

    Settings settings_;
    GptStage& stage_;
    tracing::Recorder& recorder_;
    std::vector<float> moment1_, moment2_; ///< as long as the stage's values
    std::uint16_t threads_;
    struct Names {
        tracing::LocalName norm, adamw;
    } names_;
};

} // namespace rankscope::backend
