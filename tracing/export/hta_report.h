#pragma once

#include "tracing/analysis/hta.h"

#include <string>

namespace rankscope::tracing {

/// HTA's quantities in microseconds: whole ones where the times are.
std::string htaText(const std::vector<HtaRow>& rows);
std::string htaJson(const std::vector<HtaRow>& rows);

} // namespace rankscope::tracing
