#include "backend/model/kernel_runner.h"

#include <algorithm>
#include <ctime>
#include <omp.h>

namespace rankscope::backend {

namespace {
// About 100 us of one thread's fp32 arithmetic on current cores (60 to 120 GFLOP/s).
constexpr double kPieceFlop = 10e6;
// Fewer rows, and reading the other matrix again for each piece would cost more than the arithmetic.
constexpr std::int64_t kLeastRows = 64;
// Looking whether a message has come takes 1 or 2 us; moving one on takes longer.
constexpr std::chrono::microseconds kLongestPause{ 5 };
} // namespace

KernelRunner::KernelRunner(tracing::Recorder& recorder, Numbers numbers)
    : recorder_(recorder)
    , numbers_(numbers)
    , roundName_(recorder.name("round to bf16"))
    , threads_(static_cast<std::uint16_t>(omp_get_max_threads()))
    , longestPause_(recorder.ticksOf(kLongestPause))
{
}

tracing::OpenSpan KernelRunner::begin(tracing::LocalName name, const kernels::KernelCost& cost, const KernelWork& work)
{
    return recorder_.kernel({ .name = name,
        .pass = pass_,
        .dtype = work.dtype,
        .threads = threads_,
        .flop = cost.flop,
        .bytes = cost.bytes,
        .microBatch = microBatch_,
        .work = static_cast<std::uint32_t>(work.tokens),
        .copies = static_cast<std::uint16_t>(work.copies) });
}

tracing::KernelAmount KernelRunner::amountOf(
    const kernels::KernelCost& cost, const KernelWork& work, std::int64_t first, std::int64_t end, std::int64_t count)
{
    const double part = static_cast<double>(end - first) / static_cast<double>(count);
    // A difference of rounded sums, so that no token is lost.
    const std::int64_t tokens = work.tokens * end / count - work.tokens * first / count;
    return { .flop = cost.flop * part, .bytes = cost.bytes * part, .work = static_cast<std::uint32_t>(tokens) };
}

void KernelRunner::begin(tracing::Pass pass, std::optional<std::uint16_t> microBatch)
{
    pass_ = pass;
    microBatch_ = microBatch;
}

Operand KernelRunner::operand(std::vector<kernels::Bf16>& rounded, const float* x, std::int64_t n)
{
    if (numbers_ == Numbers::Fp32)
        return { x, nullptr };
    if (rounded.size() < static_cast<std::size_t>(n))
        rounded.resize(static_cast<std::size_t>(n));
    run(roundName_, kernels::roundToBf16Cost(n), 0, [&] { kernels::cpu::roundToBf16(rounded.data(), x, n); });
    return { nullptr, rounded.data() };
}

std::chrono::nanoseconds KernelRunner::threadCpuTime()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void KernelRunner::countExperts(
    const ExpertPart& part, std::span<const std::int32_t> came, std::int64_t dropped, double balance)
{
    // From each of the ranks as many numbers as this one has experts.
    const std::size_t all = came.size(), local = all / static_cast<std::size_t>(part.parts);
    load_.tokens.resize(all);
    for (std::size_t i = 0; i < all; ++i)
        load_.tokens[static_cast<std::size_t>(part.index) * local + i % local] += came[i];
    load_.dropped += dropped;
    load_.balance += balance;
    ++load_.passes;
}

std::int64_t KernelRunner::rowsAtOnce(std::int64_t rows, double flop) const { return atOnce(rows, flop, kLeastRows); }

std::int64_t KernelRunner::sequencesAtOnce(std::int64_t sequences, std::int64_t heads, double flop) const
{
    return atOnce(sequences, flop, (threads_ + heads - 1) / heads);
}

std::int64_t KernelRunner::atOnce(std::int64_t count, double flop, std::int64_t unit) const
{
    const double pieces = flop / (kPieceFlop * threads_);
    if (!hooks_.betweenKernels || pieces <= 1)
        return count;
    const auto wanted = static_cast<std::int64_t>(static_cast<double>(count) / pieces);
    return std::clamp(wanted / unit * unit, std::min(unit, count), count);
}

} // namespace rankscope::backend
