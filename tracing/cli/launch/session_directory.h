#pragma once

#include "tracing/model/result.h"

#include <filesystem>

namespace rankscope::tracing {

/// Makes an empty directory for a recording's rings, in memory where there is a place for it, else in the system's
/// place for temporary files: /dev/shm/rankscope-PID-XXXXXX.
Result<std::filesystem::path> makeSessionDirectory();

} // namespace rankscope::tracing
