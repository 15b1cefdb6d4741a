#pragma once

#include <cstddef>
#include <cstdint>

namespace rankscope::backend {

/// The shape of a GPT: pre-norm blocks, causal multi-head attention, a GELU MLP of four widths, learned positions and
/// an untied head (so that the first and last pipeline stage share no weight).
struct GptConfig {
    int layers = 0; ///< L
    int width = 0; ///< C, a multiple of heads
    int heads = 0; ///< H
    int vocab = 0; ///< V
    int sequence = 0; ///< T, tokens of one sequence
    int experts = 0; ///< E, MLPs of a layer among which a token chooses; 0: one, without a choice
    int topK = 1; ///< experts that a token goes to
    double capacityFactor = 1.25; ///< times what each expert would take if all were used alike; 0: whatever comes
    double balanceLoss = 0.01; ///< weight of the loss that draws the router to use all experts alike
};

/// The layers [firstLayer, firstLayer + layerCount) and what stands before and after them.
struct StageSlice {
    int firstLayer = 0;
    int layerCount = 0;
    bool hasEmbedding = false;
    bool hasHead = false;
};

/// Stage `stage` of `stages`: layers are divided evenly (layers % stages must be 0).
StageSlice sliceOf(const GptConfig& config, int stage, int stages);
/// Everything on one rank.
StageSlice wholeModel(const GptConfig& config);

/// Which part of each split tensor a rank holds (Shoeybi et al. 2019): heads of attention, columns of the first and
/// rows of the second matrix of an MLP, and a range of the head's vocabulary. Norms, the token table and the positions
/// are replicated: each rank has them whole, with the same bits. `parts` divides heads and vocab.
struct TensorPart {
    int parts = 1;
    int index = 0;
    /// Outside of the split tensors, too, a rank has its part only, of the rows, which `parts` divides (Korthikanti et
    /// al. 2022): the residual stream, norms and embedding.
    bool splitsSequence = false;

    /// Ranks that repeat what is computed outside of the split tensors.
    int copies() const { return splitsSequence ? 1 : parts; }
    template <typename Count> Count ownRows(Count rows) const
    {
        return splitsSequence ? rows / static_cast<Count>(parts) : rows;
    }
};

/// Which of a layer's experts a rank holds: E / parts of them from index x E / parts on.
struct ExpertPart {
    int parts = 1;
    int index = 0;
};

/// One expert that is asked for more than the router means to: by `share` of all rows, whatever it thinks of them.
struct HotExpert {
    int expert = 0;
    double share = 0; ///< 0 to 1
};

/// Rows of a micro-batch that one expert takes at most.
std::int64_t expertCapacity(const GptConfig& config, int sequences);

/// What backward computes again instead of keeping it: nothing; what is large and cheap (outputs of norms and of the
/// GELU); or all of a layer from its input (Chen et al. 2016, Korthikanti et al. 2022).
/// The numbers that matrices are multiplied in, and that those which only products read are kept in. All else is fp32:
/// weights, sums, what is sent and updated.
enum class Numbers {
    Fp32,
    Bf16, ///< inputs of products are rounded, their sums are fp32; the router of experts stays in fp32
};

enum class Recompute { None, Selective, Full };

/// N = B T: the tokens of a micro-batch.
std::size_t rowCount(const GptConfig& config, int sequences);

/// Deviation of the initial weights that write to the residual stream, 0.02 / sqrt(2 L), so that its variance does not
/// grow with depth (Radford et al. 2019, section 2.3); 0.02 elsewhere.
float residualDeviation(const GptConfig& config);

/// Floats in the parameters that one of tensorParts x expertParts ranks holds of a slice; its gradients and each of
/// AdamW's moments are as many again.
std::size_t parameterCount(const GptConfig& config, const StageSlice& slice, int tensorParts = 1, int expertParts = 1);
/// Those of them that belong to experts.
std::size_t expertParameterCount(
    const GptConfig& config, const StageSlice& slice, int tensorParts = 1, int expertParts = 1);
/// Bytes that one micro-batch of `sequences` keeps from its forward to its backward pass on one of these ranks; with
/// experts if as many tokens come as go.
std::size_t activationBytes(const GptConfig& config, const StageSlice& slice, int sequences,
    const TensorPart& part = {}, Recompute recompute = Recompute::None, Numbers numbers = Numbers::Fp32);
/// What all micro-batches of a slice share to compute again in.
std::size_t recomputeBytes(const GptConfig& config, int sequences, const TensorPart& part, Recompute recompute,
    Numbers numbers = Numbers::Fp32);

/// What comes on top where the gradients of weights are deferred: the gradients that they need.
std::size_t deferredBytes(const GptConfig& config, const StageSlice& slice, int sequences, const TensorPart& part,
    Numbers numbers = Numbers::Fp32);

/// Arithmetic of the model a token, forward and backward, as PaLM counts it (Chowdhery et al. 2022, appendix B: 6 a
/// weight of a matrix, the token and position tables left out), with attention at (T + 1) / 2 keys a query, since
/// masked blocks are skipped: L (72 C^2 + 6 C (T + 1)) + 6 C V. Of experts those that a token goes to count, and the
/// router: L (24 C^2 + 48 C^2 top_k + 6 C E + ...). Divide tokens/s times this by the peak for MFU.
double modelFlopPerToken(const GptConfig& config);

} // namespace rankscope::backend
