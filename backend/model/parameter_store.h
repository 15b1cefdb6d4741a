#pragma once

#include "backend/model/gpt_stage.h"
#include "backend/tensor/buffer.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope::backend {

/// A tensor as kernels take it.
struct Weights {
    float* value = nullptr;
    float* gradient = nullptr;
};

/// `part`'s share of an axis that its parts divide evenly.
inline TensorCut cutOf(std::size_t outer, std::size_t axis, std::size_t inner, const TensorPart& part)
{
    const std::size_t length = axis / static_cast<std::size_t>(part.parts);
    return { outer, axis, inner, length * static_cast<std::size_t>(part.index), length };
}

/// The contiguous values and gradients of a stage. Layers take their tensors in the order in which backward finishes
/// them; once all are taken, the buffers are full.
class ParameterStore {
public:
    /// Room for `count` floats, and behind them for `expertCount` of experts.
    ParameterStore(std::size_t count, std::size_t expertCount, std::uint64_t seed);

    enum class Init { Zero, One, Normal };
    struct Tensor {
        TensorCut cut;
        Init init = Init::Zero;
        float deviation = 0; ///< of Normal
        bool decays = false; ///< has weight decay
        bool isTensorSummand = false, isExpert = false; ///< see Parameter
    };
    /// Hands out the next `cut.count()` floats, those of experts behind all others. Normal draws the whole tensor from
    /// N(0, deviation^2) by (seed, name) alone and keeps the part.
    Weights add(std::string name, const Tensor& tensor);

    static TensorCut whole(std::size_t count) { return { .axis = count, .length = count }; }

    /// Floats handed out so far: where the next tensor begins.
    std::size_t used() const { return used_; }
    std::size_t expertsUsed() const { return expertsUsed_; }
    std::size_t expertsBegin() const { return expertsBegin_; }
    std::span<const Parameter> parameters() const { return parameters_; }
    std::span<float> values() { return values_.span(); }
    std::span<float> gradients() { return gradients_.span(); }

private:
    Buffer values_;
    Buffer gradients_;
    std::vector<Parameter> parameters_;
    std::size_t expertsBegin_;
    std::size_t used_ = 0, expertsUsed_ = expertsBegin_;
    std::uint64_t seed_;
};

} // namespace rankscope::backend
