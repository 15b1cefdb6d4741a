#include "backend/model/embedding_layer.h"

#include <algorithm>

namespace rankscope::backend {

namespace {
constexpr float kDeviation = 0.02F; // GPT-2's, as everywhere
}

EmbeddingLayer::EmbeddingLayer(
    ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part, int sequences)
    : firstRow_(0)
    , rows_(static_cast<std::int64_t>(part.ownRows(rowCount(config, sequences))))
    , sequence_(config.sequence)
    , width_(config.width)
    , copies_(part.copies())
    , table_(store.add("embedding.tokens",
          { .cut = ParameterStore::whole(static_cast<std::size_t>(config.vocab) * static_cast<std::size_t>(width_)),
              .init = ParameterStore::Init::Normal,
              .deviation = kDeviation,
              .decays = true,
              .isTensorSummand = part.splitsSequence }))
    , positions_(store.add("embedding.positions",
          { .cut = ParameterStore::whole(static_cast<std::size_t>(sequence_ * width_)),
              .init = ParameterStore::Init::Normal,
              .deviation = kDeviation,
              .isTensorSummand = part.splitsSequence }))
    , name_(runner.name("embedding"))
{
    if (part.splitsSequence)
        firstRow_ = part.index * rows_;
}

/// Calls `body(row, position, shape)` for pieces that are whole sequences, or one part of one: `row` counts from the
/// first of this rank.
template <typename Body> void EmbeddingLayer::eachPiece(const Body& body) const
{
    std::int64_t row = 0;
    while (row < rows_) {
        const std::int64_t position = (firstRow_ + row) % sequence_, left = rows_ - row;
        kernels::EmbeddingShape shape{ .B = left / sequence_, .T = sequence_, .C = width_ };
        if (position > 0 || left < sequence_)
            shape = { .B = 1, .T = std::min(sequence_ - position, left), .C = width_ };
        body(row, position, shape);
        row += shape.B * shape.T;
    }
}

void EmbeddingLayer::forward(KernelRunner& runner, Saved& saved, float* out, std::span<const std::int32_t> tokens) const
{
    const auto own = tokens.subspan(static_cast<std::size_t>(firstRow_), static_cast<std::size_t>(rows_));
    saved.assign(own.begin(), own.end());
    eachPiece([&](std::int64_t row, std::int64_t position, const kernels::EmbeddingShape& shape) {
        runner.run(name_, embeddingForwardCost(shape), { shape.B * shape.T, copies_ }, [&] {
            kernels::cpu::embeddingForward(
                out + row * width_, saved.data() + row, table_.value, positions_.value + position * width_, shape);
        });
    });
}

void EmbeddingLayer::backward(KernelRunner& runner, const Saved& saved, const float* gradient) const
{
    eachPiece([&](std::int64_t row, std::int64_t position, const kernels::EmbeddingShape& shape) {
        runner.run(name_, embeddingBackwardCost(shape), { shape.B * shape.T, copies_ }, [&] {
            kernels::cpu::embeddingBackward(table_.gradient, positions_.gradient + position * width_,
                gradient + row * width_, saved.data() + row, shape);
        });
    });
}

} // namespace rankscope::backend
