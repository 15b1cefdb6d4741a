#pragma once

#include "tracing/model/result.h"

#include <string>
#include <vector>

namespace rankscope::backend {

/// kNotANumber: the loss or a gradient is none any more; an earlier state may go on.
enum ExitCode { kGood = 0, kWrongUsage = 2, kOwnFault = 4, kNotANumber = 5 };

struct CommandLine {
    bool help = false;
    bool plan = false;
    bool json = false;
    std::string configPath; ///< empty: defaults
    std::vector<std::string> overrides; ///< "key=value"
};

/// An error names the argument.
tracing::Result<CommandLine> parseCommandLine(int argc, const char* const* argv);

} // namespace rankscope::backend
