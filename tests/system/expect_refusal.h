#pragma once

#include "tests/support/child_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace rankscope::system {

/// A refusal is one line on standard error, says these words, and comes with this exit code.
inline void expectRefusal(const support::Outcome& outcome, int exitCode, const std::vector<std::string>& words)
{
    EXPECT_EQ(outcome.exitCode, exitCode) << outcome.error;
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
    for (const auto& word : words)
        EXPECT_NE(outcome.error.find(word), std::string::npos) << "'" << word << "' is not in: " << outcome.error;
}

} // namespace rankscope::system
