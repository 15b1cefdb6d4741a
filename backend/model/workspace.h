#pragma once

#include "backend/model/gpt_config.h"
#include "backend/tensor/buffer.h"

#include <cstddef>
#include <vector>

namespace rankscope::backend {

/// Floats of a size that is known only when they are needed; what was in them is gone when they grow.
inline float* grown(Buffer& buffer, std::size_t count)
{
    if (buffer.size() < count)
        buffer = Buffer(count + count / 4);
    return buffer.data();
}

/// Memory that blocks use while they compute, one for all: nothing in it outlives a block's call.
struct Workspace {
    Workspace(std::size_t rows, std::size_t width, const TensorPart& part)
        : narrow(rows * width)
        , wide(rows * 4 * width / static_cast<std::size_t>(part.parts))
        , input(part.splitsSequence ? narrow.size() : 0)
        , gradient(input.size())
    {
    }
    Buffer narrow; ///< (N, C)
    Buffer wide; ///< (N, 4 C / parts), with experts (R, ...) as many rows as came
    Buffer input, gradient; ///< (N, C) if the parts split the sequence: gathered from them
    // With experts, grown as needed: S rows sorted by expert, the R that came, by sender and by expert.
    Buffer packed, arrived, atExperts, gradients;
    Buffer routes; ///< (N, E)
    std::vector<float> gates; ///< (S)
    float lossScale = 1; ///< of the micro-batch under way
};

} // namespace rankscope::backend
