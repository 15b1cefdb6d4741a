#include "backend/model/gpt_stage.h"

#include "backend/model/model_chunk.h"
#include "kernels/elementwise.h"
#include "tracing/model/check.h"

#include <algorithm>
#include <deque>

namespace rankscope::backend {

namespace {

/// Of experts that other replicas do not have.
std::size_t expertsOf(const GptStage::Options& options)
{
    std::size_t count = 0;
    for (const auto& chunk : options.chunks)
        count += expertParameterCount(options.config, chunk.slice, options.part.parts, options.experts.parts);
    return options.experts.parts > 1 ? count : 0;
}

std::size_t parametersOf(const GptStage::Options& options)
{
    std::size_t count = 0;
    for (const auto& chunk : options.chunks)
        count += parameterCount(options.config, chunk.slice, options.part.parts, options.experts.parts);
    return count - expertsOf(options);
}

} // namespace

class GptStage::Impl {
public:
    Impl(const Options& options, tracing::Recorder& recorder)
        : hiddenCount(options.part.ownRows(rowCount(options.config, options.sequences))
            * static_cast<std::size_t>(options.config.width))
        , runner(recorder, options.numbers)
        , store(parametersOf(options), expertsOf(options), options.seed)
        , workspace(rowCount(options.config, options.sequences), static_cast<std::size_t>(options.config.width),
              options.part, options.numbers)
        , clearName(runner.name("clear gradients"))
    {
        RS_CHECK(options.config.width % options.config.heads == 0, "heads divide width");
        RS_CHECK(options.config.heads % options.part.parts == 0 && options.config.vocab % options.part.parts == 0,
            "parts divide heads and vocab");
        RS_CHECK(!options.part.splitsSequence
                || hiddenCount * static_cast<std::size_t>(options.part.parts)
                    == rowCount(options.config, options.sequences) * static_cast<std::size_t>(options.config.width),
            "parts that split the sequence divide the rows");
        // Backward finishes the last chunk first.
        for (std::size_t i = options.chunks.size(); i-- > 0;)
            chunks.emplace_front(store, runner, options, options.chunks[i]);
        RS_CHECK(store.used() == store.expertsBegin() && store.expertsUsed() == store.values().size(),
            "parameterCount() and the layers must agree");
    }

    ModelChunk& chunk(int index) { return chunks.at(static_cast<std::size_t>(index)); }

    std::size_t hiddenCount;
    KernelRunner runner;
    ParameterStore store;
    std::deque<ModelChunk> chunks;
    Workspace workspace;
    tracing::LocalName clearName;
};

GptStage::GptStage(const Options& options, tracing::Recorder& recorder)
    : impl_(std::make_unique<Impl>(options, recorder))
{
}

GptStage::~GptStage() = default;

void GptStage::setHooks(StageHooks hooks) { impl_->runner.setHooks(std::move(hooks)); }
std::span<const Parameter> GptStage::parameters() const { return impl_->store.parameters(); }
std::span<float> GptStage::values() { return impl_->store.values(); }
void GptStage::weightsChanged() { impl_->runner.weightsChanged(); }
std::span<float> GptStage::gradients() { return impl_->store.gradients(); }

std::vector<std::size_t> GptStage::gradientEnds() const
{
    std::vector<std::size_t> ends;
    for (std::size_t i = impl_->chunks.size(); i-- > 0;)
        ends.insert(ends.end(), impl_->chunks[i].gradientEnds().begin(), impl_->chunks[i].gradientEnds().end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end()); // no head, no embedding: nothing to report
    return ends;
}

std::vector<std::size_t> GptStage::expertGradientEnds() const
{
    std::vector<std::size_t> ends;
    for (std::size_t i = impl_->chunks.size(); i-- > 0;) {
        for (const std::size_t end : impl_->chunks[i].expertGradientEnds()) {
            if (end > (ends.empty() ? expertsBegin() : ends.back()))
                ends.push_back(end);
        }
    }
    return ends;
}

std::size_t GptStage::expertsBegin() const { return impl_->store.expertsBegin(); }
ExpertLoad GptStage::takeExpertLoad() { return impl_->runner.takeExpertLoad(); }
std::size_t GptStage::hiddenCount() const { return impl_->hiddenCount; }

void GptStage::zeroGradients()
{
    const std::span<float> all = gradients();
    const auto count = static_cast<std::int64_t>(all.size());
    impl_->runner.begin(tracing::Pass::Optimizer, std::nullopt);
    impl_->runner.run(impl_->clearName, kernels::clearCost(count), 0, [&] { kernels::cpu::clear(all.data(), count); });
}

double GptStage::forward(const MicroBatch& batch, std::span<float> hiddenOut)
{
    return impl_->chunk(batch.chunk).forward(impl_->runner, batch, hiddenOut, impl_->workspace);
}

void GptStage::backward(
    int chunk, int slot, std::span<const float> hiddenOutGradient, std::span<float> hiddenInGradient)
{
    impl_->chunk(chunk).backward(impl_->runner, slot, hiddenOutGradient, hiddenInGradient, impl_->workspace);
}

void GptStage::backwardWeights(int chunk, int slot)
{
    impl_->chunk(chunk).backwardWeights(impl_->runner, slot, impl_->workspace);
}

double GptStage::evaluate(const MicroBatch& batch, std::span<float> hiddenOut)
{
    return impl_->chunk(batch.chunk).evaluate(impl_->runner, batch, hiddenOut, impl_->workspace);
}

} // namespace rankscope::backend
