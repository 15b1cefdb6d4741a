#pragma once

#include <algorithm>
#include <cstdint>
#include <omp.h>

namespace rankscope::kernels::cpu {

/// Calls body(begin, end, part) on equal ranges of [0, n), one for each OpenMP thread, or on the whole range where n is
/// below `grain`. The cut depends on n and the number of threads alone. The team is either whole or absent, since
/// libgomp ends threads when a team shrinks, and oneDNN uses the same ones.
template <typename Body> void parallelRanges(std::int64_t n, std::int64_t grain, const Body& body)
{
#ifdef __SANITIZE_THREAD__
    // libgomp is not instrumented: its barriers are invisible to the sanitizer, which would see races everywhere.
    static_cast<void>(grain);
    body(std::int64_t{ 0 }, n, 0);
#else
    if (n < grain || omp_get_max_threads() == 1 || omp_in_parallel()) {
        body(std::int64_t{ 0 }, n, 0);
        return;
    }
#pragma omp parallel
    {
        const std::int64_t part = omp_get_thread_num(), parts = omp_get_num_threads();
        body(n * part / parts, n * (part + 1) / parts, static_cast<int>(part));
    }
#endif
}

/// Elements below which a loop over memory does not pay for waking the team (a few microseconds).
inline constexpr std::int64_t kElementGrain = 16384;

} // namespace rankscope::kernels::cpu
