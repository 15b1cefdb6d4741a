#include "tracing/model/check.h"

#include <cstdio>
#include <cstdlib>

namespace rankscope::tracing {

void checkFailed(const char* condition, const char* what, const char* file, int line) noexcept
{
    std::fprintf(stderr, "rankscope: bug: %s (%s) at %s:%d\n", what, condition, file, line);
    std::abort();
}

} // namespace rankscope::tracing
