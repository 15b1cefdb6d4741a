#include "backend/train/calibration.h"

#include "kernels/matmul.h"

#include <omp.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace rankscope::backend {

namespace {

/// Seconds that the threads of this process have had a core, all together.
double cpuSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename Number> double measurePeak(Number one, Number other)
{
    using Clock = std::chrono::steady_clock;
    constexpr std::int64_t kSide = 768; // three matrices of 2.4 MB: large against overheads, quick on one core
    constexpr auto kLong = std::chrono::milliseconds(100);
    const std::vector<Number> a(kSide * kSide, one), b(kSide * kSide, other);
    std::vector<float> c(kSide * kSide);
    const kernels::MatmulShape shape{ .M = kSide, .N = kSide, .K = kSide };
    const double flop = kernels::matmulCost(shape).flop;
    double best = 0;
    const Clock::time_point start = Clock::now();
    // The first product also builds the kernel; the best of all is what counts.
    for (int run = 0; run < 3 || Clock::now() - start < kLong; ++run) {
        const double begin = cpuSeconds();
        kernels::cpu::matmul(c.data(), a.data(), b.data(), nullptr, shape);
        best = std::max(best, flop / (cpuSeconds() - begin));
    }
    return best * omp_get_max_threads();
}

} // namespace

double measurePeakFlops(Numbers numbers)
{
    if (numbers == Numbers::Bf16)
        return measurePeak(kernels::Bf16::of(0.5F), kernels::Bf16::of(0.25F));
    return measurePeak(0.5F, 0.25F);
}

} // namespace rankscope::backend
