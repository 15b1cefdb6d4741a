#pragma once

#include "tracing/analysis/hta_tables.h"

#include <string>

namespace rankscope::tracing {

/// HTA's quantities in microseconds: whole ones where the times are.
std::string htaText(const std::vector<HtaTrace>& traces);
std::string htaJson(const std::vector<HtaTrace>& traces);

} // namespace rankscope::tracing
