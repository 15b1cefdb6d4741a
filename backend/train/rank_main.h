#pragma once

#include "backend/train/command_line.h"

namespace rankscope::backend {

/// One rank of a run, from MPI's start to its end. Gives the exit code; errors of the set-up are one line from rank 0,
/// and all ranks end together.
int runRank(const CommandLine& line);

} // namespace rankscope::backend
