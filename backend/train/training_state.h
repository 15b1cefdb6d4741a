#pragma once

#include "backend/checkpoint/checkpointer.h"
#include "backend/comm/mesh.h"
#include "backend/model/gpt_stage.h"

#include <span>

namespace rankscope::backend {

/// A rank's parameters and AdamW moments as slices of the whole tensors, and the share that it writes: what several
/// ranks hold alike is spread over them. The moments are as long as the stage's values and in their order.
Checkpointer::State trainingState(std::span<const Parameter> parameters, std::span<float> moment1,
    std::span<float> moment2, const MeshPlace& place, const MeshSizes& sizes);

} // namespace rankscope::backend
