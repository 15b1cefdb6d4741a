#pragma once

#include "backend/checkpoint/checkpointer.h"
#include "backend/comm/mesh.h"
#include "backend/model/gpt_stage.h"
#include "backend/parallel/optimizer.h"

#include <span>

namespace rankscope::backend {

/// A rank's parameters and AdamW moments as slices of the whole tensors, and the share that it writes: what several
/// ranks hold alike is spread over them.
Checkpointer::State trainingState(
    std::span<const Parameter> parameters, Optimizer& optimizer, const MeshPlace& place, const MeshSizes& sizes);

} // namespace rankscope::backend
