#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rankscope::tracing {

/// Gives one input to the reader of a format ("json", "nsight", "pipeline", "table", "flight_recorder", "run_file"), as a
/// file, and goes on with what it gives to matching and alignment. "import" goes on to the finished run, whatever the
/// format; "rules" takes the input for a user's rules and asks them about names; "clocks" for collectives of four ranks
/// to match and align. Whatever comes out is good: it must only come back, without a fault.
void readFuzzed(std::string_view format, const std::uint8_t* data, std::size_t size);

} // namespace rankscope::tracing
