#pragma once

#include <cstdint>

namespace rankscope::tracing {

/// A number for a launch on a rank, from the host's call to what it starts, that no other launch is likely to have
/// (splitmix64). Bit 51 is set and nothing above it: instances of collectives, which count from 1, stay below, and a
/// JSON reader keeps it exactly.
inline std::uint64_t launchFlow(std::int32_t rank, std::int64_t correlation)
{
    std::uint64_t x = static_cast<std::uint64_t>(correlation) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(rank);
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    x ^= x >> 31U;
    return (x >> 13U) | 1ULL << 51U;
}

} // namespace rankscope::tracing
