#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rankscope::tracing {

/// Gives one input to the reader of a format ("json", "nsight", "pipeline", "flight_recorder", "run_file"), as a file,
/// and goes on with what it gives to matching and alignment. Whatever comes out is good: it must only come back,
/// without a fault.
void readFuzzed(std::string_view format, const std::uint8_t* data, std::size_t size);

} // namespace rankscope::tracing
