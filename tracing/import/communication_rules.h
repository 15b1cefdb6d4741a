#pragma once

#include "tracing/model/kinds.h"

#include <optional>
#include <string_view>

namespace rankscope::tracing {

/// Whether a device operation is communication, from its name alone: nccl (old and new), RCCL, HCCL, symmetric memory
/// and multimem, NVSHMEM, DeepEP, MSCCL++. Metadata of the file comes first where there is some.
bool isCommunicationName(std::string_view name);

/// What a kernel's, annotation's or collective's name says: "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
/// "nccl:all_to_all",
/// "_allgather_base", "hcom_allReduce__868_0_1". Unknown: generic kernels (RCCL) and SendRecv kernels, which serve
/// all-to-all and point-to-point alike.
CollectiveOp collectiveOpOf(std::string_view name);

/// The parallel dimension that a group's name or description tells: "mesh_tp", "default_pg", "dp_cp", "expert".
std::optional<Dimension> dimensionOf(std::string_view nameOrDescription);

/// Bytes of one element: "Float", "BFloat16", "c10::BFloat16", "FP32", "Byte", "Long int". 0: unknown.
int bytesOfType(std::string_view type);

} // namespace rankscope::tracing
