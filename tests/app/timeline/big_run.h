#pragma once

#include <filesystem>

namespace rankscope::app::timeline {

/// Writes a finished run of four ranks with `kernels` kernels in all, 24 us apart, a step each 100 ms of them with an
/// all-reduce at its end for which rank 3 is late, and the tiles that a collector would write.
void writeBigRun(const std::filesystem::path& file, std::int64_t kernels);

} // namespace rankscope::app::timeline
