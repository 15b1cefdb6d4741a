#include "tracing/cli/supervision.h"

#include "tracing/cli/commands.h"

#include <fmt/format.h>

#include <cstdio>

namespace rankscope::tracing {

namespace {

constexpr int kNotANumber = 5; ///< of rankscope-train

} // namespace

bool mayGoOn(int exitCode) { return exitCode != 0 && exitCode != kWrongUsage && exitCode != kUnreadableInput; }

AttemptEnd endOfRanks(int exitCode, const std::vector<std::string>& banners)
{
    if (exitCode == kNotANumber)
        return { "the loss or a gradient is not a number", {} };
    for (const std::string& line : banners) {
        int rank = 0, signal = 0;
        const std::size_t at = line.find("process rank "), exited = line.find("exited on signal ");
        if (at != std::string::npos && exited != std::string::npos
            && std::sscanf(line.c_str() + at, "process rank %d", &rank) == 1
            && std::sscanf(line.c_str() + exited, "exited on signal %d", &signal) == 1)
            return { fmt::format("rank {} died (signal {})", rank, signal), { rank } };
    }
    return { fmt::format("the ranks ended with code {}", exitCode), {} };
}

} // namespace rankscope::tracing
