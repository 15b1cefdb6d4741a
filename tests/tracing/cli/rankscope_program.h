#pragma once

#include "tests/support/child_process.h"

#include <string>
#include <vector>

namespace rankscope::tracing {

/// The built program with these arguments.
inline support::Command rankscope(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), RS_PROGRAM);
    return { arguments };
}

inline support::Outcome runRankscope(std::vector<std::string> arguments)
{
    return support::run(rankscope(std::move(arguments)));
}

inline std::size_t linesIn(const std::string& text)
{
    std::size_t lines = 0;
    for (const char letter : text)
        lines += letter == '\n';
    return lines;
}

} // namespace rankscope::tracing
