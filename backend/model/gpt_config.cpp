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

/// Of what only products read, and of a norm's output, which is sent and routed unrounded.
std::size_t productBytes(Numbers numbers) { return numbers == Numbers::Bf16 ? 2 : 4; }
std::size_t normBytes(Numbers numbers, const TensorPart& part, bool isRouted = false)
{
    return part.splitsSequence || isRouted ? 4 : productBytes(numbers);
}

/// What a layer keeps, of each row that a rank has outside of split tensors and of each row inside.
struct LayerBytes {
    std::size_t outside = 0, inside = 0;

    std::size_t of(std::size_t rows, const TensorPart& part) const
    {
        return part.ownRows(rows) * outside + rows * inside;
    }
};

LayerBytes layerBytes(const GptConfig& config, const TensorPart& part, Recompute recompute, Numbers numbers)
{
    const auto C = static_cast<std::size_t>(config.width);
    const auto H = static_cast<std::size_t>(config.heads);
    const auto parts = static_cast<std::size_t>(part.parts);
    const auto E = static_cast<std::size_t>(config.experts), K = static_cast<std::size_t>(config.topK);
    if (recompute == Recompute::Full)
        return { 4 * C, 0 };
    // Both residuals, mean and rstd of both norms; then split: qkv, attention with its log-sum-exp, MLP before GELU.
    // Experts: the latter for each choice with its input, output, row and gate; probabilities, choices.
    const std::size_t mlps = E > 0 ? K : 1, routing = E > 0 ? E + K * (2 * C + 3) : 0, each = productBytes(numbers);
    LayerBytes bytes{ 4 * (2 * C + 4), ((12 + each) * C + 4 * H + 16 * C * mlps) / parts + 4 * routing };
    if (recompute == Recompute::None) { // both norms, MLP after GELU
        bytes.outside += C * (normBytes(numbers, part) + normBytes(numbers, part, E > 0));
        bytes.inside += 4 * each * C * mlps / parts;
    }
    return bytes;
}

} // namespace

std::size_t recomputeBytes(
    const GptConfig& config, int sequences, const TensorPart& part, Recompute recompute, Numbers numbers)
{
    const std::size_t rows = rowCount(config, sequences);
    const std::size_t all = layerBytes(config, part, Recompute::None, numbers).of(rows, part);
    const std::size_t kept = layerBytes(config, part, recompute, numbers).of(rows, part);
    // With Selective one output serves both norms.
    const std::size_t shared = recompute == Recompute::Selective
        ? part.ownRows(rows) * static_cast<std::size_t>(config.width) * normBytes(numbers, part)
        : 0;
    return all - kept - shared;
}

std::size_t activationBytes(const GptConfig& config, const StageSlice& slice, int sequences, const TensorPart& part,
    Recompute recompute, Numbers numbers)
{
    const auto parts = static_cast<std::size_t>(part.parts);
    const auto C = static_cast<std::size_t>(config.width);
    const auto V = static_cast<std::size_t>(config.vocab);
    const std::size_t rows = rowCount(config, sequences), ownRows = part.ownRows(rows);
    std::size_t bytes
        = static_cast<std::size_t>(slice.layerCount) * layerBytes(config, part, recompute, numbers).of(rows, part);
    if (slice.hasEmbedding)
        bytes += ownRows * 4 * (1 + C); // tokens, the gradient that comes back to them
    if (slice.hasHead) {
        bytes += ownRows * (4 * (C + 2) + C * normBytes(numbers, part)) // input, mean, rstd, norm
            + rows * 4 * (V / parts + 3); // logits, loss, log-sum-exp, target
        bytes += numbers == Numbers::Bf16 ? rows * 2 * V / parts : 0; // gradient of the logits
        bytes += parts > 1 ? rows * 4 * (parts + 1) : 0; // log-sum-exp of the parts, the target's logit
    }
    return bytes;
}

std::size_t deferredBytes(
    const GptConfig& config, const StageSlice& slice, int sequences, const TensorPart& part, Numbers numbers)
{
    const auto C = static_cast<std::size_t>(config.width), each = productBytes(numbers);
    const auto E = static_cast<std::size_t>(config.experts), K = static_cast<std::size_t>(config.topK);
    // A layer: of both sums; then split: of qkv and before the GELU, with experts for each choice, and of their output
    // and the router. The head's is kept anyway.
    const std::size_t layer = 4 * 2 * C + each * (3 + 4 * (E > 0 ? K : 1)) * C / static_cast<std::size_t>(part.parts)
        + (E > 0 ? 4 * (K * C + E) : 0);
    return rowCount(config, sequences) * static_cast<std::size_t>(slice.layerCount) * layer;
}

double modelFlopPerToken(const GptConfig& config)
{
    const double C = config.width;
    const double mlp = config.experts > 0 ? 48 * C * C * config.topK + 6 * C * config.experts : 48 * C * C;
    return config.layers * (24 * C * C + mlp + 6 * C * (config.sequence + 1)) + 6 * C * config.vocab;
}

} // namespace rankscope::backend
