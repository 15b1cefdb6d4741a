#pragma once

#include "backend/model/gpt_config.h"
#include "tracing/record/recorder.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rankscope::backend {

/// The part of a whole tensor that a rank holds: places [begin, begin + length) of an axis of `axis` places, `inner`
/// floats each, `outer` times over. Row-major (outer, axis, inner) is the whole tensor, (outer, length, inner) the
/// part.
struct TensorCut {
    std::size_t outer = 1, axis = 0, inner = 1;
    std::size_t begin = 0, length = 0;

    std::size_t count() const { return outer * length * inner; }
    std::size_t wholeCount() const { return outer * axis * inner; }
    bool isWhole() const { return length == axis; }
};

/// One tensor among a stage's contiguous buffers.
struct Parameter {
    std::string name; ///< "layer 3.mlp.up.weight": the same in every layout
    std::span<float> value;
    std::span<float> gradient;
    std::size_t offset = 0; ///< of its first float in values() and gradients()
    bool weightDecay = false; ///< matrices yes; gains, biases and position table no
    TensorCut cut{}; ///< whole where all tensor-parallel ranks hold the same
    bool isExpert = false; ///< of an expert that other replicas do not have: lies behind all that they all have
    bool isTensorSummand = false; ///< held whole, but of its gradient a rank has a summand: to be summed over the parts
};

/// What the ranks that split tensors do together, in place.
enum class TensorOp {
    Sum, ///< all get the same bits
    ScatterSum, ///< a rank gets its part of the rows, where they lie
    Gather, ///< a rank gives its part of the rows, where they lie, and gets all
};
/// Waits until an exchange is done.
using ExchangeWait = std::function<void()>;

/// What a stage calls while it computes, always on the calling thread and outside parallel regions. Either may be
/// empty.
struct StageHooks {
    /// Between kernels, so that an exchange under way makes progress. Where it is set, long matrix products are cut
    /// into pieces of at least 64 rows and attention into sequences, each a span of its own, as near to 100 us as that
    /// allows (costs 2 to 5 %). A cut may change the rounding: set it by the layout or the step, never by the clock.
    std::function<void()> betweenKernels{};
    /// Within each kernel's span, once it is computed, with the time that its thread had a core for it.
    std::function<void(std::chrono::nanoseconds took)> insideKernel{};
    /// During backward: this micro-batch's part of gradients()[begin, end) is added. Ranges ascend without a gap, below
    /// and from expertsBegin() on each for itself, and cover a chunk's part of both in each backward pass (with
    /// deferred weights: in backwardWeights()); whoever sums over ranks listens to the last micro-batch only.
    std::function<void(std::size_t begin, std::size_t end)> gradientsReady{};
    /// Before values()[begin, end) are read in forward(): one of the ranges that gradientsReady gives.
    std::function<void(std::size_t begin, std::size_t end)> weightsNeeded{};
    /// Starts an exchange; needed with more than one part.
    std::function<ExchangeWait(TensorOp op, std::span<float> data, const char* name)> overTensorParts{};
    /// Starts an exchange among the ranks that divide the experts: a part for each of them and one from each, whose
    /// memory stays until it is done. Needed with more than one part.
    std::function<ExchangeWait(std::span<const std::span<const std::byte>> toEach,
        std::span<const std::span<std::byte>> fromEach, const char* name)>
        betweenExperts{};
    /// Asked in every forward pass.
    std::function<std::optional<HotExpert>()> hotExpert{};
};

/// One micro-batch on its way through a stage. B = Options::sequences, N = B * T rows.
struct MicroBatch {
    int chunk = 0; ///< of the stage's chunks
    int slot = 0; ///< which activation slot of the chunk holds it between forward and backward, 0 .. slots - 1
    std::uint16_t number = 0; ///< for the recording
    std::span<const std::int32_t> tokens{}; ///< (B, T), first part of the model only
    std::span<const float> hiddenIn{}; ///< (B, T, C), all but the first part
    std::span<const std::int32_t> targets{}; ///< (B, T), last part only
    float lossScale = 1; ///< gradients are those of lossScale * summed loss, such as 1 / tokens of the global batch
};

/// What experts had to do.
struct ExpertLoad {
    std::vector<std::int64_t> tokens; ///< by expert: computed by this rank, in all its layers; 0 for those of others
    std::int64_t dropped = 0; ///< choices of this rank's tokens that no expert had room for
    double balance = 0; ///< sum of balance losses
    std::int64_t passes = 0; ///< layers times micro-batches of which they are
};

/// A pipeline stage of a GPT: one range of layers, or several chunks of an interleaved schedule. All inputs are
/// copied, nothing need outlive the call. Not for use by two threads at once; kernels use the OpenMP threads of the
/// caller (omp_get_max_threads() at construction is what spans report). Deterministic: the same values, inputs and
/// thread count give the same bits, however layers are cut into stages.
class GptStage {
public:
    struct Options {
        GptConfig config;
        struct Chunk {
            StageSlice slice;
            int slots = 1; ///< micro-batches in flight at most
        };
        std::vector<Chunk> chunks; ///< in the model's order
        TensorPart part{};
        ExpertPart experts{};
        int sequences = 1; ///< B, sequences of a micro-batch
        std::uint64_t seed = 1;
        Recompute recompute = Recompute::None; ///< Full does not go with deferred weights
        Numbers numbers = Numbers::Fp32;
        bool defersWeights = false; ///< backward() leaves the gradients of matrices to backwardWeights()
    };

    /// Initial weights depend on (seed, parameter name) alone, never on the layout. The recorder must outlive the
    /// stage.
    GptStage(const Options& options, tracing::Recorder& recorder);
    ~GptStage();
    GptStage(const GptStage&) = delete;
    GptStage& operator=(const GptStage&) = delete;

    void setHooks(StageHooks hooks);

    /// In the order in which backward finishes their gradients (last chunk first; in it head first, embedding last);
    /// parameters() tile the buffers.
    std::span<const Parameter> parameters() const;
    std::span<float> values();
    /// Somebody wrote to values(): what is derived from them is made anew before it is read.
    void weightsChanged();
    std::span<float> gradients();
    /// Where the parameters of experts begin that not all replicas have: at the end if there are none.
    std::size_t expertsBegin() const;
    void zeroGradients();

    /// Where the ranges end that gradientsReady gives, in the same order.
    std::vector<std::size_t> gradientEnds() const;
    /// Of those from expertsBegin() on.
    std::vector<std::size_t> expertGradientEnds() const;

    /// Since the last call.
    ExpertLoad takeExpertLoad();

    /// Floats of one micro-batch between stages: B * T * C, or a part of them where the sequence is split. It is what
    /// (B, T, C) means below.
    std::size_t hiddenCount() const;

    /// Computes a chunk and keeps in the slot what backward needs. Writes hiddenOut (B, T, C), which is empty on the
    /// last part of the model; there returns the loss summed over the B * T tokens in nats (not scaled, the same on all
    /// tensor parts), elsewhere 0.
    double forward(const MicroBatch& batch, std::span<float> hiddenOut);

    /// Adds the gradients of the micro-batch in `slot`. hiddenOutGradient (B, T, C) is empty on the last part,
    /// hiddenInGradient (B, T, C) empty on the first. The slot is free afterwards, unless weights are deferred.
    void backward(int chunk, int slot, std::span<const float> hiddenOutGradient, std::span<float> hiddenInGradient);

    /// The rest of a backward() that defers weights: adds the gradients of all matrices, their biases and the
    /// embedding. The slot is free afterwards.
    void backwardWeights(int chunk, int slot);

    /// As forward, for evaluation: nothing is kept, and no slot is touched (batch.slot and lossScale are ignored).
    double evaluate(const MicroBatch& batch, std::span<float> hiddenOut);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace rankscope::backend
