#pragma once

#include <string>
#include <string_view>

namespace rankscope::tracing {

/// A word as a shell takes it: as it is where that is safe, else in single quotes. For commands that people copy.
std::string shellQuoted(std::string_view word);

} // namespace rankscope::tracing
