#include "backend/model/model_chunk.h"

#include "tracing/model/check.h"

#include <algorithm>
#include <utility>

namespace rankscope::backend {

ModelChunk::Layer::Layer(ParameterStore& store, KernelRunner& runner, const GptStage::Options& options, int index)
    : mlp(store, runner, options.config, options.part, options.experts, "layer " + std::to_string(index),
        options.sequences)
    , attention(store, runner, options.config, options.part, "layer " + std::to_string(index), options.sequences)
{
}

/// Lends the shared buffers to a layer's own activations for as long as it lives: which of them are missing says the
/// kind of recomputation.
class ModelChunk::View {
public:
    View(std::optional<Again>& again, Slot& slot, std::size_t layer)
        : again_(again)
        , own_(!slot.attention.empty())
        , attention_(own_ ? slot.attention[layer % slot.attention.size()] : again->attention)
        , mlp_(own_ ? slot.mlp[layer % slot.mlp.size()] : again->mlp)
        , lends_(own_ && mlp_.norm.y.size() == 0)
    {
        exchange();
    }
    ~View() { exchange(); }
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    AttentionBlock::Saved& attention() { return attention_; }
    MlpBlock::Saved& mlp() { return mlp_; }
    bool isWhole() const { return own_ && !lends_; }
    bool isShared() const { return !own_; }

private:
    void exchange()
    {
        if (!lends_)
            return;
        std::swap(attention_.norm.y, again_->attention.norm.y);
        std::swap(mlp_.norm.y, again_->mlp.norm.y);
        std::swap(mlp_.inside.after, again_->mlp.inside.after);
    }

    std::optional<Again>& again_;
    bool own_;
    AttentionBlock::Saved& attention_;
    MlpBlock::Saved& mlp_;
    bool lends_;
};

ModelChunk::Slot::Slot(
    const GptStage::Options& options, const StageSlice& slice, std::span<const Layer> layers, bool forTraining)
{
    const Recompute recompute = forTraining ? options.recompute : Recompute::None;
    const bool defersWeights = forTraining && options.defersWeights;
    const std::size_t hiddenCount = options.part.ownRows(rowCount(options.config, options.sequences))
        * static_cast<std::size_t>(options.config.width);
    const std::size_t inputs = recompute == Recompute::Full ? layers.size() + 1 : 2 * layers.size() + 1;
    for (std::size_t i = 0; i < inputs; ++i)
        hidden.emplace_back(hiddenCount);
    for (std::size_t i = 0; i < layers.size() && recompute != Recompute::Full; ++i) {
        attention.emplace_back(options.config, options.part, options.sequences, options.numbers, defersWeights);
        mlp.push_back(layers[i].mlp.save(defersWeights));
        if (recompute == Recompute::Selective) {
            attention.back().norm.y = {};
            mlp.back().norm.y = {};
            mlp.back().inside.after = {};
        }
    }
    if (slice.hasHead) {
        head.emplace(options.config, options.part, options.sequences, options.numbers);
        head->defersWeights = defersWeights;
    }
    if (slice.hasEmbedding)
        embeddingGradient = Buffer(hiddenCount);
}

ModelChunk::ModelChunk(ParameterStore& store, KernelRunner& runner, const GptStage::Options& options,
    const GptStage::Options::Chunk& chunk)
    : options_(options)
    , slice_(chunk.slice)
    , begin_(store.used())
    , expertsBegin_(store.expertsUsed())
    , rows_(rowCount(options.config, options.sequences))
    , hiddenCount_(options.part.ownRows(rows_) * static_cast<std::size_t>(options.config.width))
{
    RS_CHECK(slice_.layerCount > 0, "a chunk has layers");
    RS_CHECK(
        options.recompute == Recompute::None || !options.defersWeights, "one of both: weights need what is dropped");
    if (slice_.hasHead)
        head_.emplace(store, runner, options.config, options.part, options.sequences);
    endGroup(store);
    for (int i = slice_.layerCount - 1; i >= 0; --i) {
        layers_.emplace_back(store, runner, options, slice_.firstLayer + i);
        endGroup(store);
    }
    std::ranges::reverse(layers_);
    if (slice_.hasEmbedding)
        embedding_.emplace(store, runner, options.config, options.part, options.sequences);
    endGroup(store);
    for (int i = 0; i < chunk.slots; ++i)
        slots_.emplace_back(options, slice_, layers_, true);
    if (options.recompute != Recompute::None)
        again_.emplace(Again{ { options.config, options.part, options.sequences, options.numbers, false },
            layers_.front().mlp.save(false), Buffer(hiddenCount_) });
}

double ModelChunk::forward(
    KernelRunner& runner, const MicroBatch& batch, std::span<float> hiddenOut, Workspace& workspace)
{
    return forward(runner, slots_.at(static_cast<std::size_t>(batch.slot)), batch, hiddenOut, workspace);
}

double ModelChunk::evaluate(
    KernelRunner& runner, const MicroBatch& batch, std::span<float> hiddenOut, Workspace& workspace)
{
    if (!evaluation_)
        evaluation_.emplace(options_, slice_, std::span(layers_).first(1), false);
    return forward(runner, *evaluation_, batch, hiddenOut, workspace);
}

double ModelChunk::forward(
    KernelRunner& runner, Slot& slot, const MicroBatch& batch, std::span<float> hiddenOut, Workspace& workspace)
{
    RS_CHECK(hiddenOut.size() == (head_ ? 0 : hiddenCount_), "hiddenOut must be (B, T, C), empty on the last part");
    runner.begin(tracing::Pass::Forward, batch.number);
    slot.number = batch.number;
    slot.lossScale = batch.lossScale;
    need(runner, layers_.size() + 1);
    enter(runner, slot, batch);
    const std::size_t blocks = 2 * layers_.size();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        // The last block of a chunk without head writes to the caller.
        float* out = 2 * i + 2 == blocks && !head_ ? hiddenOut.data() : input(slot, 2 * i + 2);
        View view(again_, slot, i);
        need(runner, layers_.size() - i);
        layers_[i].attention.forward(runner, view.attention(), input(slot, 2 * i + 1), input(slot, 2 * i), workspace);
        layers_[i].mlp.forward(runner, view.mlp(), out, input(slot, 2 * i + 1), workspace);
    }
    if (!head_)
        return 0;
    need(runner, 0);
    RS_CHECK(batch.targets.size() == rows_, "targets must be (B, T)");
    slot.head->lossScale = batch.lossScale;
    return head_->forward(runner, *slot.head, input(slot, blocks), batch.targets, workspace);
}

float* ModelChunk::input(Slot& slot, std::size_t block)
{
    if (!slot.attention.empty())
        return slot.hidden[block % slot.hidden.size()].data();
    return block % 2 == 1 ? again_->between.data() : slot.hidden[block / 2].data();
}

void ModelChunk::computeAgain(KernelRunner& runner, Slot& slot, std::size_t layer, View& view, Workspace& workspace)
{
    runner.begin(tracing::Pass::Recompute, slot.number);
    float* between = input(slot, 2 * layer + 1);
    if (view.isShared())
        layers_[layer].attention.forward(runner, view.attention(), between, input(slot, 2 * layer), workspace);
    else
        layers_[layer].attention.recomputeNorm(runner, view.attention(), input(slot, 2 * layer));
    layers_[layer].mlp.recompute(runner, view.mlp(), between, view.isShared(), workspace);
    runner.begin(tracing::Pass::Backward, slot.number);
}

void ModelChunk::enter(KernelRunner& runner, Slot& slot, const MicroBatch& batch) const
{
    if (embedding_) {
        RS_CHECK(batch.tokens.size() == rows_, "tokens must be (B, T)");
        embedding_->forward(runner, slot.tokens, slot.hidden.front().data(), batch.tokens);
    } else {
        RS_CHECK(batch.hiddenIn.size() == hiddenCount_, "hiddenIn must be (B, T, C)");
        std::ranges::copy(batch.hiddenIn, slot.hidden.front().data());
    }
}

void ModelChunk::backward(KernelRunner& runner, int index, std::span<const float> hiddenOutGradient,
    std::span<float> hiddenInGradient, Workspace& workspace)
{
    RS_CHECK(hiddenOutGradient.size() == (head_ ? 0 : hiddenCount_), "empty on the last part, else (B, T, C)");
    RS_CHECK(hiddenInGradient.size() == (embedding_ ? 0 : hiddenCount_), "empty on the first part, else (B, T, C)");
    Slot& slot = slots_.at(static_cast<std::size_t>(index));
    const auto done = [&](std::size_t group) {
        if (!options_.defersWeights)
            ready(runner, group);
    };
    runner.begin(tracing::Pass::Backward, slot.number);
    workspace.lossScale = slot.lossScale;
    // The gradient of the residual stream, in place from the end to the beginning.
    float* gradient = embedding_ ? slot.embeddingGradient.data() : hiddenInGradient.data();
    if (head_)
        head_->backward(runner, *slot.head, gradient, input(slot, 2 * layers_.size()), workspace);
    else
        std::ranges::copy(hiddenOutGradient, gradient);
    done(0);
    for (std::size_t i = layers_.size(); i-- > 0;) {
        View view(again_, slot, i);
        if (!view.isWhole())
            computeAgain(runner, slot, i, view, workspace);
        layers_[i].mlp.backward(runner, view.mlp(), gradient, input(slot, 2 * i + 1), workspace);
        layers_[i].attention.backward(runner, view.attention(), gradient, input(slot, 2 * i), workspace);
        done(layers_.size() - i);
    }
    if (embedding_ && !options_.defersWeights)
        embedding_->backward(runner, slot.tokens, gradient);
    done(layers_.size() + 1);
}

void ModelChunk::backwardWeights(KernelRunner& runner, int index, Workspace& workspace)
{
    RS_CHECK(options_.defersWeights, "a stage that defers weights");
    Slot& slot = slots_.at(static_cast<std::size_t>(index));
    runner.begin(tracing::Pass::Weight, slot.number);
    if (head_)
        head_->backwardWeights(runner, *slot.head, workspace);
    ready(runner, 0);
    for (std::size_t i = layers_.size(); i-- > 0;) {
        layers_[i].mlp.backwardWeights(runner, slot.mlp[i], workspace);
        layers_[i].attention.backwardWeights(runner, slot.attention[i], workspace);
        ready(runner, layers_.size() - i);
    }
    if (embedding_)
        embedding_->backward(runner, slot.tokens, slot.embeddingGradient.data());
    ready(runner, layers_.size() + 1);
}

void ModelChunk::endGroup(const ParameterStore& store)
{
    ends_.push_back(store.used());
    expertsEnds_.push_back(store.expertsUsed());
}

void ModelChunk::ready(KernelRunner& runner, std::size_t group) const
{
    const std::size_t experts = expertsBeginOf(group);
    if (experts < expertsEnds_[group])
        runner.gradientsReady(experts, expertsEnds_[group]);
    if (beginOf(group) < ends_[group])
        runner.gradientsReady(beginOf(group), ends_[group]);
}

void ModelChunk::need(KernelRunner& runner, std::size_t group) const
{
    if (beginOf(group) < ends_[group])
        runner.weightsNeeded(beginOf(group), ends_[group]);
    const std::size_t experts = expertsBeginOf(group);
    if (experts < expertsEnds_[group])
        runner.weightsNeeded(experts, expertsEnds_[group]);
}

} // namespace rankscope::backend
