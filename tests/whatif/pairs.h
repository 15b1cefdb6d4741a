#pragma once

#include "tracing/model/result.h"

#include <string>
#include <vector>

namespace rankscope::whatif {

/// Two configurations and the change that leads from one to the other.
struct Pair {
    std::string name;
    std::vector<std::string> base, changed; ///< key=value, complete
    std::vector<std::string> predict; ///< words of rankscope what-if
    bool heldOut = false;
};

/// The table as it was registered; an error names the pair that lacks something.
tracing::Result<std::vector<Pair>> readPairs(const std::string& path);

/// The small model that all of them train, as TOML.
std::string baseConfiguration();

} // namespace rankscope::whatif
