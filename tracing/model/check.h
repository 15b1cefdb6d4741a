#pragma once

/// Stops the program for a bug of ours, in every build: what must hold, and where. Never for bad input (use Result).
#define RS_CHECK(condition, what)                                                                                      \
    do {                                                                                                               \
        if (!(condition)) [[unlikely]]                                                                                 \
            ::rankscope::tracing::checkFailed(#condition, what, __FILE__, __LINE__);                                   \
    } while (false)

/// RS_CHECK for inner loops: debug builds only.
#ifdef NDEBUG
#define RS_DCHECK(condition, what) static_cast<void>(0)
#else
#define RS_DCHECK(condition, what) RS_CHECK(condition, what)
#endif

namespace rankscope::tracing {

[[noreturn]] void checkFailed(const char* condition, const char* what, const char* file, int line) noexcept;

} // namespace rankscope::tracing
