#pragma once

#include "backend/train/config.h"

#include <string>
#include <vector>

namespace rankscope::backend {

/// One JSON object on one line: schema, ok, errors; and, where there are none, ranks, threads, cores, layout, memory,
/// schedule. The launcher and the app read it instead of knowing the keys. `problems` are those of `config`.
std::string planJson(const Config& config, const std::vector<std::string>& problems);

/// The same in a few lines for people, of a configuration without problems.
std::string planText(const Config& config);

/// The program's usage, with an example and every key.
std::string helpText();

} // namespace rankscope::backend
