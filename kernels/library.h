#pragma once

#include <string>

namespace rankscope::kernels::cpu {

/// The library behind matmul(), for a run's provenance: "oneDNN 2.6.3".
std::string libraryVersion();

} // namespace rankscope::kernels::cpu
