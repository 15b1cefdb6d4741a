#pragma once

#include "backend/data/dataset.h"
#include "backend/model/gpt_stage.h"
#include "backend/parallel/hidden_exchange.h"
#include "backend/parallel/replica_sums.h"
#include "backend/schedule/schedule.h"
#include "tracing/record/recorder.h"

#include <functional>
#include <optional>
#include <vector>

namespace rankscope::backend {

/// Plays one stage's list of a schedule on a stage of the model: receives posted early, sends that travel while the
/// next action computes, and gradients summed over replicas during the last backward pass. Where the stage has to wait
/// for a neighbour, it records a pipeline bubble.
class PipelineRunner {
public:
    struct Options {
        Schedule schedule;
        int stage = 0;
        std::vector<int> stageRanks; ///< world ranks of this replica's stages, in order
        GroupId pipeline{};
        GroupId clip{}; ///< this replica's ranks; all ranks where the optimizer's state is sharded
        std::optional<GroupId> data; ///< absent with one replica
        std::optional<GroupId> experts; ///< replicas that divide the experts; absent where each has all
        std::optional<GroupId> expertData; ///< replicas that have the same; absent with one
        std::optional<GroupId> tensor; ///< absent where tensors are whole
        std::size_t bucketFloats = 1 << 18;
        bool exchanges = true; ///< there are other ranks, whose exchanges move on between pieces of kernels
        StageHooks also{}; ///< betweenKernels and insideKernel of somebody else
        bool shardsOptimizer = false; ///< each replica gets the sums of its ownParts() of the buckets, and updates them
        bool isNaive = false; ///< no buckets: each tensor's gradient is summed after the backward pass, one by one
    };
    /// Makes a micro-batch's input (needed by the first stage) and targets (by the last).
    using BatchSource = std::function<Batch(int microBatch)>;

    /// Sets the stage's hooks. Each chunk of the stage needs as many slots as peakActivations() of its list, and defers
    /// weights where the schedule splits backward passes.
    PipelineRunner(const Options& options, GptStage& stage, Communicator& communicator, tracing::Recorder& recorder);

    /// One step: all micro-batches forward and backward, gradients summed over the replicas. Gives the loss summed over
    /// this replica's tokens on the last stage (on each tensor-parallel rank), 0 elsewhere. Gradients are those of
    /// lossScale * summed loss.
    double trainStep(const BatchSource& source, float lossScale);

    /// Where the optimizer's state is sharded: this replica has updated its part of the bucket, all need it. The next
    /// forward pass waits for what it reads.
    void gatherWeights(std::size_t bucket);
    /// Waits for all of them, before anybody else reads the weights.
    void finishWeights();

    /// Forward only; gives the summed loss of `microBatches` on the last stage, 0 elsewhere.
    double evaluate(int microBatches, const BatchSource& source);

    /// Sums one number over the stages of this replica, such as their shares of the gradient's norm. Later stages are
    /// done with their last backward pass first: their wait here is the drain of the pipeline.
    double sumOverStages(double share);

private:
    tracing::OpenSpan bubble(
        tracing::BubblePhase phase, tracing::Pass next, std::optional<int> microBatch, int awaitedStage);
    bool isFirstPart(int chunk) const { return options_.stage == 0 && chunk == 0; }
    bool isLastPart(int chunk) const
    {
        return options_.stage + 1 == options_.schedule.stages && chunk + 1 == options_.schedule.chunks;
    }
    /// Stages form a ring where they have several chunks.
    int stageBefore() const { return (options_.stage + options_.schedule.stages - 1) % options_.schedule.stages; }
    int stageAfter() const { return (options_.stage + 1) % options_.schedule.stages; }
    const std::vector<Action>& actions() const
    {
        return options_.schedule.actions[static_cast<std::size_t>(options_.stage)];
    }
    enum class Channel { Activations, Gradients };
    HiddenLink linkTo(int stage, Channel channel) const;
    std::vector<int> arriving(ActionKind kind) const;
    tracing::OpenSpan range(tracing::LocalName name, tracing::RangeKind kind, int microBatch);
    Batch load(const BatchSource& source, const Action& action);
    std::span<const float> take(Inbox& inbox, tracing::Pass next, int awaitedStage);
    double forward(const Action& action, const BatchSource& source, float lossScale);
    double evaluate(const Action& action, const BatchSource& source);
    void backward(const Action& action);
    void backwardWeights(const Action& action);
    bool isLastOfChunk(const Action& action) const;
    void finishSums();
    /// Gradients of what tensor parts hold alike but compute in parts.
    void sumTensorSummands();
    ExchangeWait overTensorParts(TensorOp op, std::span<float> data, const char* name);
    void needWeights(std::size_t begin, std::size_t end);
    StageHooks hooks();
    int slotOf(const Action& action) const
    {
        return action.microBatch % slots_[static_cast<std::size_t>(action.chunk)];
    }

    Options options_;
    GptStage& stage_;
    Communicator& communicator_;
    tracing::Recorder& recorder_;
    std::optional<Inbox> activationsIn_, gradientsIn_;
    std::optional<Outbox> activationsOut_, gradientsOut_;
    std::vector<ReplicaSums> sums_; ///< of sharedRanges(), or empty: naive, or one replica
    std::vector<int> slots_; ///< of each chunk
    bool sumsGradients_ = false; ///< a chunk's last backward pass of the step is under way
    tracing::BubblePhase phase_ = tracing::BubblePhase::Fill;
    struct Names {
        tracing::LocalName microBatch, forward, backward, weights, data, waitForSums, waitForWeights;
    } names_;
};

} // namespace rankscope::backend
