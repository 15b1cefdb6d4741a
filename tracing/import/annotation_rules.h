#pragma once

#include "tracing/model/kinds.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace rankscope::tracing {

/// What a host annotation's name says about training.
struct AnnotationMeaning {
    RangeKind kind = RangeKind::Annotation;
    Pass pass = Pass::None;
    std::optional<std::int64_t> step;
    std::optional<std::int32_t> microBatch;
    std::optional<std::int32_t> stage;
};

/// Knows PyTorch's (`ProfilerStep#4`, `enumerate(DataLoader)#...`, `Optimizer.step#...`, `PP:2F0`), Megatron's
/// (`forward-compute`), DeepSpeed's (`BackwardPass`), plain (`Forward 3`) and our own ranges.
AnnotationMeaning meaningOf(std::string_view name);

} // namespace rankscope::tracing
