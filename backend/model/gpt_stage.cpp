#include "backend/model/gpt_stage.h"

#include "backend/model/attention_block.h"
#include "backend/model/embedding_layer.h"
#include "backend/model/head_layer.h"
#include "backend/model/mlp_block.h"
#include "kernels/elementwise.h"
#include "tracing/model/check.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace rankscope::backend {

namespace {

struct Layer {
    MlpBlock mlp; // first, because backward finishes it first
    AttentionBlock attention;

    Layer(ParameterStore& store, KernelRunner& runner, const GptStage::Options& options, int index)
        : mlp(store, runner, options.config, options.part, "layer " + std::to_string(index), options.sequences)
        , attention(store, runner, options.config, options.part, "layer " + std::to_string(index), options.sequences)
    {
    }
};

// What one micro-batch keeps from forward to backward. With layers = 1 the layers of an evaluation share it in turn.
struct Slot {
    EmbeddingLayer::Saved tokens;
    std::vector<Buffer> hidden; ///< inputs of all blocks in order, (N, C) each; then the head's
    std::vector<AttentionBlock::Saved> attention;
    std::vector<MlpBlock::Saved> mlp;
    std::optional<HeadLayer::Saved> head;
    std::uint16_t number = 0;

    Slot(const GptStage::Options& options, int layers)
    {
        const std::size_t rows = rowCount(options.config, options.sequences);
        const auto width = static_cast<std::size_t>(options.config.width);
        for (int i = 0; i < 2 * layers + 1; ++i)
            hidden.emplace_back(rows * width);
        for (int i = 0; i < layers; ++i) {
            attention.emplace_back(options.config, options.part, options.sequences);
            mlp.emplace_back(rows, width, options.part);
        }
        if (options.slice.hasHead)
            head.emplace(options.config, options.part, options.sequences);
    }
    float* input(std::size_t block) { return hidden[block % hidden.size()].data(); }
};

} // namespace

class GptStage::Impl {
public:
    Impl(const Options& options, tracing::Recorder& recorder)
        : options_(options)
        , runner_(recorder)
        , store_(parameterCount(options.config, options.slice, options.part.parts), options.seed)
        , workspace_(rows(), static_cast<std::size_t>(options.config.width), options.part)
        , gradient_(options.slice.hasEmbedding ? hiddenCount() : 0)
        , clearName_(runner_.name("clear gradients"))
    {
        const StageSlice& slice = options.slice;
        RS_CHECK(slice.layerCount > 0 && options.config.width % options.config.heads == 0,
            "layers, and heads that divide width");
        RS_CHECK(options.config.heads % options.part.parts == 0 && options.config.vocab % options.part.parts == 0,
            "parts divide heads and vocab");
        if (slice.hasHead)
            head_.emplace(store_, runner_, options.config, options.part, options.sequences);
        markEnd();
        for (int i = slice.layerCount - 1; i >= 0; --i) {
            layers_.emplace_back(store_, runner_, options, slice.firstLayer + i);
            markEnd();
        }
        std::ranges::reverse(layers_);
        if (slice.hasEmbedding)
            embedding_.emplace(store_, runner_, options.config, options.sequences);
        markEnd();
        RS_CHECK(store_.used() == store_.values().size(), "parameterCount() and the layers must agree");
        for (int i = 0; i < options.slots; ++i)
            slots_.emplace_back(options, slice.layerCount);
    }

    std::size_t rows() const { return rowCount(options_.config, options_.sequences); }
    std::size_t hiddenCount() const { return rows() * static_cast<std::size_t>(options_.config.width); }
    ParameterStore& store() { return store_; }
    KernelRunner& runner() { return runner_; }
    Slot& slot(int index) { return slots_.at(static_cast<std::size_t>(index)); }

    Slot& evaluationSlot()
    {
        if (!evaluation_)
            evaluation_.emplace(options_, 1);
        return *evaluation_;
    }

    double forward(Slot& slot, const MicroBatch& batch, std::span<float> hiddenOut)
    {
        RS_CHECK(
            hiddenOut.size() == (head_ ? 0 : hiddenCount()), "hiddenOut must be (B, T, C), empty on the last stage");
        runner_.begin(tracing::Pass::Forward, batch.number);
        slot.number = batch.number;
        enter(slot, batch);
        const std::size_t blocks = 2 * layers_.size();
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            // The last block of a stage without head writes to the caller.
            float* out = 2 * i + 2 == blocks && !head_ ? hiddenOut.data() : slot.input(2 * i + 2);
            layers_[i].attention.forward(
                runner_, slot.attention[i % slot.attention.size()], slot.input(2 * i + 1), slot.input(2 * i));
            layers_[i].mlp.forward(runner_, slot.mlp[i % slot.mlp.size()], out, slot.input(2 * i + 1));
        }
        if (!head_)
            return 0;
        RS_CHECK(batch.targets.size() == rows(), "targets must be (B, T)");
        slot.head->lossScale = batch.lossScale;
        return head_->forward(runner_, *slot.head, slot.input(blocks), batch.targets);
    }

    void backward(Slot& slot, std::span<const float> hiddenOutGradient, std::span<float> hiddenInGradient)
    {
        RS_CHECK(hiddenOutGradient.size() == (head_ ? 0 : hiddenCount()), "empty on the last stage, else (B, T, C)");
        RS_CHECK(
            hiddenInGradient.size() == (embedding_ ? 0 : hiddenCount()), "empty on the first stage, else (B, T, C)");
        runner_.begin(tracing::Pass::Backward, slot.number);
        // The gradient of the residual stream, in place from the end to the beginning.
        float* gradient = embedding_ ? gradient_.data() : hiddenInGradient.data();
        if (head_)
            head_->backward(runner_, *slot.head, gradient, slot.input(2 * layers_.size()), workspace_);
        else
            std::ranges::copy(hiddenOutGradient, gradient);
        ready(0);
        for (std::size_t i = layers_.size(); i-- > 0;) {
            layers_[i].mlp.backward(runner_, slot.mlp[i], gradient, slot.input(2 * i + 1), workspace_);
            layers_[i].attention.backward(runner_, slot.attention[i], gradient, slot.input(2 * i), workspace_);
            ready(layers_.size() - i);
        }
        if (embedding_)
            embedding_->backward(runner_, slot.tokens, gradient);
        ready(layers_.size() + 1);
    }

    void zeroGradients()
    {
        const std::span<float> gradients = store_.gradients();
        const auto count = static_cast<std::int64_t>(gradients.size());
        runner_.begin(tracing::Pass::Optimizer, std::nullopt);
        runner_.run(clearName_, kernels::clearCost(count), 0, [&] { kernels::cpu::clear(gradients.data(), count); });
    }

private:
    void enter(Slot& slot, const MicroBatch& batch)
    {
        if (embedding_) {
            RS_CHECK(batch.tokens.size() == rows(), "tokens must be (B, T)");
            embedding_->forward(runner_, slot.tokens, slot.input(0), batch.tokens);
        } else {
            RS_CHECK(batch.hiddenIn.size() == hiddenCount(), "hiddenIn must be (B, T, C)");
            std::ranges::copy(batch.hiddenIn, slot.input(0));
        }
    }

    void markEnd() { ends_.push_back(store_.used()); }
    void ready(std::size_t group)
    {
        const std::size_t begin = group == 0 ? 0 : ends_[group - 1];
        if (begin < ends_[group])
            runner_.gradientsReady(begin, ends_[group]);
    }

    Options options_;
    KernelRunner runner_;
    ParameterStore store_;
    std::optional<HeadLayer> head_;
    std::vector<Layer> layers_;
    std::optional<EmbeddingLayer> embedding_;
    std::vector<std::size_t> ends_; ///< of the gradients of head, each layer from the last on, embedding
    std::vector<Slot> slots_;
    std::optional<Slot> evaluation_;
    Workspace workspace_;
    Buffer gradient_; ///< (N, C), on the first stage, where no caller gives one
    tracing::LocalName clearName_;
};

GptStage::GptStage(const Options& options, tracing::Recorder& recorder)
    : impl_(std::make_unique<Impl>(options, recorder))
{
}

GptStage::~GptStage() = default;

void GptStage::setHooks(StageHooks hooks) { impl_->runner().setHooks(std::move(hooks)); }
std::span<const Parameter> GptStage::parameters() const { return impl_->store().parameters(); }
std::span<float> GptStage::values() { return impl_->store().values(); }
std::span<float> GptStage::gradients() { return impl_->store().gradients(); }
void GptStage::zeroGradients() { impl_->zeroGradients(); }
std::size_t GptStage::hiddenCount() const { return impl_->hiddenCount(); }

double GptStage::forward(const MicroBatch& batch, std::span<float> hiddenOut)
{
    return impl_->forward(impl_->slot(batch.slot), batch, hiddenOut);
}

void GptStage::backward(int slot, std::span<const float> hiddenOutGradient, std::span<float> hiddenInGradient)
{
    impl_->backward(impl_->slot(slot), hiddenOutGradient, hiddenInGradient);
}

double GptStage::evaluate(const MicroBatch& batch, std::span<float> hiddenOut)
{
    return impl_->forward(impl_->evaluationSlot(), batch, hiddenOut);
}

} // namespace rankscope::backend
