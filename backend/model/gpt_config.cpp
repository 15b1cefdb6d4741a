#include "backend/model/gpt_config.h"

#include "tracing/model/check.h"

#include <algorithm>
#include <cmath>

namespace rankscope::backend {

StageSlice sliceOf(const GptConfig& config, int stage, int stages)
{
    RS_CHECK(stages > 0 && config.layers % stages == 0, "stages must divide layers");
    const int count = config.layers / stages;
    return {
        .firstLayer = stage * count, .layerCount = count, .hasEmbedding = stage == 0, .hasHead = stage == stages - 1
    };
}

StageSlice wholeModel(const GptConfig& config) { return sliceOf(config, 0, 1); }

std::size_t rowCount(const GptConfig& config, int sequences)
{
    return static_cast<std::size_t>(sequences) * static_cast<std::size_t>(config.sequence);
}

float residualDeviation(const GptConfig& config) { return 0.02F / std::sqrt(2 * static_cast<float>(config.layers)); }

std::int64_t expertCapacity(const GptConfig& config, int sequences)
{
    const auto rows = static_cast<std::int64_t>(rowCount(config, sequences));
    if (config.capacityFactor == 0)
        return rows;
    const double even = static_cast<double>(rows) * config.topK / config.experts;
    return std::min(rows, static_cast<std::int64_t>(std::ceil(config.capacityFactor * even)));
}

std::size_t expertParameterCount(const GptConfig& config, const StageSlice& slice, int tensorParts, int expertParts)
{
    const auto parts = static_cast<std::size_t>(tensorParts);
    const auto C = static_cast<std::size_t>(config.width);
    // Each 8C^2 + 4C, which are split, and the bias of a sum, C.
    return static_cast<std::size_t>(slice.layerCount) * static_cast<std::size_t>(config.experts / expertParts)
        * ((8 * C * C + 4 * C) / parts + C);
}

std::size_t parameterCount(const GptConfig& config, const StageSlice& slice, int tensorParts, int expertParts)
{
    const auto parts = static_cast<std::size_t>(tensorParts);
    const auto C = static_cast<std::size_t>(config.width);
    const auto V = static_cast<std::size_t>(config.vocab);
    const auto T = static_cast<std::size_t>(config.sequence);
    // A layer: qkv 3C^2 + 3C, projection C^2, which are split; the bias of a sum C, two norms 4C; then the MLP, 8C^2 +
    // 4C split and the bias of a sum, or the router.
    const std::size_t mlp
        = config.experts > 0 ? C * static_cast<std::size_t>(config.experts) : (8 * C * C + 4 * C) / parts + C;
    std::size_t count = static_cast<std::size_t>(slice.layerCount) * ((4 * C * C + 3 * C) / parts + 5 * C + mlp)
        + expertParameterCount(config, slice, tensorParts, expertParts);
    if (slice.hasEmbedding)
        count += (V + T) * C;
    if (slice.hasHead)
        count += C * V / parts + 2 * C;
    return count;
}

namespace {

/// What a layer keeps, of each row that a rank has outside of split tensors and of each row inside.
struct LayerFloats {
    std::size_t outside = 0, inside = 0;

    std::size_t of(std::size_t rows, const TensorPart& part) const
    {
        return part.ownRows(rows) * outside + rows * inside;
    }
};

LayerFloats layerFloats(const GptConfig& config, const TensorPart& part, Recompute recompute)
{
    const auto C = static_cast<std::size_t>(config.width);
    const auto H = static_cast<std::size_t>(config.heads);
    const auto parts = static_cast<std::size_t>(part.parts);
    const auto E = static_cast<std::size_t>(config.experts), K = static_cast<std::size_t>(config.topK);
    // Both residuals, both norms with mean and rstd; then split: qkv, attention with its log-sum-exp, MLP before and
    // after GELU. Experts: the latter for each choice with its input, output, row and gate; probabilities, choices.
    const std::size_t mlps = E > 0 ? K : 1, routing = E > 0 ? E + K * (2 * C + 3) : 0;
    switch (recompute) {
    case Recompute::None:
        return { 4 * C + 4, (4 * C + H + 8 * C * mlps) / parts + routing };
    case Recompute::Selective:
        return { 2 * C + 4, (4 * C + H + 4 * C * mlps) / parts + routing };
    case Recompute::Full:
        return { C, 0 };
    }
    return {};
}

} // namespace

std::size_t recomputeBytes(const GptConfig& config, int sequences, const TensorPart& part, Recompute recompute)
{
    const std::size_t rows = rowCount(config, sequences);
    const std::size_t all = layerFloats(config, part, Recompute::None).of(rows, part);
    const std::size_t kept = layerFloats(config, part, recompute).of(rows, part);
    // With Selective one output serves both norms.
    const std::size_t shared
        = recompute == Recompute::Selective ? part.ownRows(rows) * static_cast<std::size_t>(config.width) : 0;
    return (all - kept - shared) * sizeof(float);
}

std::size_t activationBytes(
    const GptConfig& config, const StageSlice& slice, int sequences, const TensorPart& part, Recompute recompute)
{
    const auto parts = static_cast<std::size_t>(part.parts);
    const auto C = static_cast<std::size_t>(config.width);
    const auto V = static_cast<std::size_t>(config.vocab);
    const std::size_t rows = rowCount(config, sequences), ownRows = part.ownRows(rows);
    std::size_t floats
        = static_cast<std::size_t>(slice.layerCount) * layerFloats(config, part, recompute).of(rows, part);
    if (slice.hasEmbedding)
        floats += ownRows * (1 + C); // tokens, the gradient that comes back to them
    if (slice.hasHead) {
        floats += ownRows * (2 * C + 2) // input, norm, mean, rstd
            + rows * (V / parts + 3); // logits, loss, log-sum-exp, target
        floats += parts > 1 ? rows * (parts + 1) : 0; // log-sum-exp of the parts, the target's logit
    }
    return floats * sizeof(float);
}

std::size_t deferredBytes(const GptConfig& config, const StageSlice& slice, int sequences, const TensorPart& part)
{
    const auto C = static_cast<std::size_t>(config.width);
    const auto E = static_cast<std::size_t>(config.experts), K = static_cast<std::size_t>(config.topK);
    // A layer: of both sums; then split: of qkv and before the GELU, with experts for each choice, and of their output
    // and the router. The head's logits hold their gradient anyway.
    const std::size_t layer
        = 2 * C + (3 + 4 * (E > 0 ? K : 1)) * C / static_cast<std::size_t>(part.parts) + (E > 0 ? K * C + E : 0);
    return rowCount(config, sequences) * static_cast<std::size_t>(slice.layerCount) * layer * sizeof(float);
}

double modelFlopPerToken(const GptConfig& config)
{
    const double C = config.width;
    const double mlp = config.experts > 0 ? 48 * C * C * config.topK + 6 * C * config.experts : 48 * C * C;
    return config.layers * (24 * C * C + mlp + 6 * C * (config.sequence + 1)) + 6 * C * config.vocab;
}

} // namespace rankscope::backend
