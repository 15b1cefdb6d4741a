#pragma once

#include <cstdint>
#include <filesystem>

namespace rankscope::support {

/// Writes a trace as PyTorch's profiler does: a transformer that trains data parallel, its host's operators and calls,
/// launched kernels with their flows, all-reduces with NCCL's metadata. `events` entries, about 265 bytes each; the same
/// text for the same arguments. Ranks enter their collectives at different times and leave together.
void writeKinetoFile(const std::filesystem::path& path, int rank, int ranks, std::int64_t events);

} // namespace rankscope::support
