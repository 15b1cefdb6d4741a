#pragma once

#include <string>
#include <string_view>

namespace rankscope::tracing {

/// SHA-256 (FIPS 180-4) as 64 hexadecimal digits: what sha256sum prints.
std::string sha256(std::string_view bytes);

} // namespace rankscope::tracing
