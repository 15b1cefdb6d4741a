#pragma once

#include "tracing/model/result.h"

#include <string>

namespace rankscope::tracing {

/// Whether a file can be made, or replaced, under this name; what is there stays as it is. The error says which
/// option's value is wrong, why, and what to do: one line.
Status checkOutput(const std::string& option, const std::string& path);

} // namespace rankscope::tracing
