#pragma once

#include "tracing/analysis/run_rows.h"

#include <string>
#include <utility>
#include <vector>

namespace rankscope::tracing {

/// What the spans of an export do not say about the run: who recorded it, its size, its configuration, the speed of its
/// links, the units of its counters. The importer of our exports reads it back key by key.
std::vector<std::pair<std::string, std::string>> runValues(const RunFacts& facts);

} // namespace rankscope::tracing
