#pragma once

#include "backend/model/attention_block.h"
#include "backend/model/embedding_layer.h"
#include "backend/model/gpt_stage.h"
#include "backend/model/head_layer.h"
#include "backend/model/mlp_block.h"

#include <optional>
#include <vector>

namespace rankscope::backend {

/// A range of a GPT's layers with what stands before and after them, and the activations of its micro-batches in
/// flight.
class ModelChunk {
public:
    ModelChunk(ParameterStore& store, KernelRunner& runner, const GptStage::Options& options,
        const GptStage::Options::Chunk& chunk);

    // As those of GptStage.
    double forward(KernelRunner& runner, const MicroBatch& batch, std::span<float> hiddenOut, Workspace& workspace);
    double evaluate(KernelRunner& runner, const MicroBatch& batch, std::span<float> hiddenOut, Workspace& workspace);
    void backward(KernelRunner& runner, int slot, std::span<const float> hiddenOutGradient,
        std::span<float> hiddenInGradient, Workspace& workspace);
    void backwardWeights(KernelRunner& runner, int slot, Workspace& workspace);
    /// Of the head, each layer from the last on, the embedding; equal to the one before where a part is missing.
    std::span<const std::size_t> gradientEnds() const { return ends_; }
    std::span<const std::size_t> expertGradientEnds() const { return expertsEnds_; }

private:
    struct Layer {
        MlpBlock mlp; // first, because backward finishes it first
        AttentionBlock attention;

        Layer(ParameterStore& store, KernelRunner& runner, const GptStage::Options& options, int index);
    };

    /// What one micro-batch keeps from forward to backward. With layers = 1 the layers of an evaluation share it in
    /// turn.
    struct Slot {
        EmbeddingLayer::Saved tokens;
        std::vector<Buffer> hidden; ///< inputs of all blocks in order, (N, C) each; then the head's
        std::vector<AttentionBlock::Saved> attention; ///< empty, as mlp, where layers are computed again
        std::vector<MlpBlock::Saved> mlp;
        std::optional<HeadLayer::Saved> head;
        Buffer embeddingGradient; ///< (N, C), of the first part, where no caller gives one
        std::uint16_t number = 0;
        float lossScale = 1;

        Slot(
            const GptStage::Options& options, const StageSlice& slice, std::span<const Layer> layers, bool forTraining);
    };

    /// Where a layer is computed again: its inputs and outputs in turn, one at a time.
    struct Again {
        AttentionBlock::Saved attention;
        MlpBlock::Saved mlp;
        Buffer between; ///< (N, C), from the attention to the MLP
    };
    /// A layer's activations, those that are computed again from again_.
    class View;

    double forward(
        KernelRunner& runner, Slot& slot, const MicroBatch& batch, std::span<float> hiddenOut, Workspace& workspace);
    float* input(Slot& slot, std::size_t block);
    void computeAgain(KernelRunner& runner, Slot& slot, std::size_t layer, View& view, Workspace& workspace);
    void enter(KernelRunner& runner, Slot& slot, const MicroBatch& batch) const;
    std::size_t beginOf(std::size_t group) const { return group == 0 ? begin_ : ends_[group - 1]; }
    std::size_t expertsBeginOf(std::size_t group) const { return group == 0 ? expertsBegin_ : expertsEnds_[group - 1]; }
    void endGroup(const ParameterStore& store);
    void ready(KernelRunner& runner, std::size_t group) const;
    void need(KernelRunner& runner, std::size_t group) const;

    GptStage::Options options_;
    StageSlice slice_;
    std::size_t begin_, expertsBegin_; ///< of this chunk's gradients
    std::optional<HeadLayer> head_;
    std::vector<Layer> layers_;
    std::optional<EmbeddingLayer> embedding_;
    std::vector<std::size_t> ends_; ///< groups of gradients: head, each layer from the last on, embedding
    std::vector<std::size_t> expertsEnds_; ///< the same of experts that other replicas do not have
    std::vector<Slot> slots_;
    std::optional<Slot> evaluation_;
    std::optional<Again> again_;
    std::size_t rows_, hiddenCount_;
};

} // namespace rankscope::backend
