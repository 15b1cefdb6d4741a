#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rankscope::backend {

/// Floats [begin, begin + data.size()) of a tensor of the training state, such as "value/layer 3.mlp.up.weight" or its
/// AdamW moments. The name is the same in every layout, so that a checkpoint of one loads into another.
struct StateSlice {
    std::string name;
    std::size_t begin = 0;
    std::span<float> data;
};

std::size_t floatsOf(const std::vector<StateSlice>& slices);

/// The part that holder `index` of `holders` writes where all of them hold the same slices: an even cut, to one float.
std::vector<StateSlice> shareOf(const std::vector<StateSlice>& slices, std::size_t index, std::size_t holders);

} // namespace rankscope::backend
