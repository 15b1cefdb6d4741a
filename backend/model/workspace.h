#pragma once

#include "backend/model/product_input.h"

#include <cstddef>
#include <vector>

namespace rankscope::backend {

/// Memory that blocks use while they compute, one for all: nothing in it outlives a block's call.
struct Workspace {
    Workspace(std::size_t rows, std::size_t width, const TensorPart& part, Numbers numbers)
        : narrow(rows * width)
        , wide(numbers, rows * 4 * width / static_cast<std::size_t>(part.parts))
        , input(part.splitsSequence ? narrow.size() : 0)
        , gradient(input.size())
    {
    }
    Buffer narrow; ///< (N, C)
    ProductInput wide; ///< (N, 4 C / parts), with experts (R, ...) as many rows as came
    Buffer unrounded; ///< as wide, before it is rounded
    std::vector<kernels::Bf16> rounded; ///< (N, C): a gradient that two products read
    Buffer input, gradient; ///< (N, C) if the parts split the sequence: gathered from them
    // With experts, grown as needed: S rows sorted by expert, the R that came, by sender and by expert.
    Buffer packed, arrived, atExperts, gradients;
    Buffer routes; ///< (N, E)
    std::vector<float> gates; ///< (S)
    float lossScale = 1; ///< of the micro-batch under way
};

} // namespace rankscope::backend
