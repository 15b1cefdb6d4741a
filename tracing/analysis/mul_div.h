#pragma once

#include <cstdint>

namespace rankscope::tracing {

/// a * b / c rounded down, for a, b >= 0 and c > 0. The product of two times in ns does not fit in 64 bits.
inline std::int64_t mulDiv(std::int64_t a, std::int64_t b, std::int64_t c)
{
    __extension__ using Wide = __int128;
    return static_cast<std::int64_t>(Wide{ a } * b / c);
}

} // namespace rankscope::tracing
