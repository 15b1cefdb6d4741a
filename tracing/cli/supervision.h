#pragma once

#include "tracing/cli/watch/hang.h"

#include <string>
#include <vector>

namespace rankscope::tracing {

/// From mpirun's exit code and what it said in its banners.
AttemptEnd endOfRanks(int exitCode, const std::vector<std::string>& banners);

/// Whether ranks that are started again may get further: not where they were used wrongly or could not read an input.
bool mayGoOn(int exitCode);

} // namespace rankscope::tracing
