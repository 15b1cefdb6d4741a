#include "backend/model/embedding_layer.h"

namespace rankscope::backend {

namespace {
constexpr float kDeviation = 0.02F; // GPT-2's, as everywhere
}

EmbeddingLayer::EmbeddingLayer(ParameterStore& store, KernelRunner& runner, const GptConfig& config, int sequences)
    : shape_{ sequences, config.sequence, config.width }
    , table_(
          store.add("embedding.tokens", static_cast<std::size_t>(config.vocab) * static_cast<std::size_t>(config.width),
              ParameterStore::Init::Normal, kDeviation, true))
    , positions_(store.add("embedding.positions",
          static_cast<std::size_t>(config.sequence) * static_cast<std::size_t>(config.width),
          ParameterStore::Init::Normal, kDeviation))
    , name_(runner.name("embedding"))
{
}

void EmbeddingLayer::forward(KernelRunner& runner, Saved& saved, float* out, std::span<const std::int32_t> tokens) const
{
    saved.assign(tokens.begin(), tokens.end());
    runner.run(name_, embeddingForwardCost(shape_), shape_.B * shape_.T,
        [&] { kernels::cpu::embeddingForward(out, saved.data(), table_.value, positions_.value, shape_); });
}

void EmbeddingLayer::backward(KernelRunner& runner, const Saved& saved, const float* gradient) const
{
    runner.run(name_, embeddingBackwardCost(shape_), shape_.B * shape_.T,
        [&] { kernels::cpu::embeddingBackward(table_.gradient, positions_.gradient, gradient, saved.data(), shape_); });
}

} // namespace rankscope::backend
