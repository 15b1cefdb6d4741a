#include "tests/app/timeline/straggler_run.h"

#include "tests/support/trace_builder.h"

namespace rankscope::app::timeline {
namespace {

using tracing::BubblePhase;
using tracing::RangeKind;
using tracing::Window;

constexpr std::int64_t kMs = 1'000'000;

Window ms(std::int64_t base, std::int64_t begin, std::int64_t end) { return { base + begin * kMs, base + end * kMs }; }

void addMicroBatches(support::TraceBuilder& builder, int rank, std::int64_t base, std::int64_t firstMs)
{
    for (int i = 0; i < 4; ++i) {
        const std::int64_t begin = firstMs + i * 100;
        builder.kernel(rank, ms(base, begin, begin + 49), "attention forward",
            { 40'000'000'000, 120'000'000, 45 * kMs, tracing::Pass::Forward });
        builder.kernel(rank, ms(base, begin + 50, begin + 99), "matmul backward of the feed-forward layer",
            { 80'000'000'000, 240'000'000, 47 * kMs, tracing::Pass::Backward });
        builder.range(rank, ms(base, begin, begin + 50), RangeKind::Forward, {}, 2);
        builder.range(rank, ms(base, begin + 50, begin + 100), RangeKind::Backward, {}, 2);
        builder.range(rank, ms(base, begin, begin + 100), RangeKind::MicroBatch, {}, 1);
    }
}

void addStep(support::TraceBuilder& builder, int step)
{
    const std::int64_t base = step * 1000 * kMs;
    for (int rank = 0; rank < 4; ++rank) {
        builder.step(rank, step, ms(base, 0, 1000));
        const std::int64_t first = rank >= 2 ? 100 : 0;
        if (rank >= 2)
            builder.bubble(rank, ms(base, 0, 100), BubblePhase::Fill, rank - 2);
        addMicroBatches(builder, rank, base, first);
        if (rank < 2)
            builder.bubble(rank, ms(base, 400, 500), BubblePhase::Drain, rank + 2);
        if (rank == 2)
            builder.range(rank, ms(base, 500, 900), RangeKind::Data, step, 1);
        builder.kernel(rank, ms(base, 940, 990), "AdamW");
        builder.counter(rank, "memory", "MB", base + 10 * kMs, 900 + 30 * step);
        builder.counter(rank, "memory", "MB", base + 450 * kMs, 1400);
        builder.counter(rank, "memory", "MB", base + 950 * kMs, 1100);
    }
    const Window onTime = ms(base, 500, 930);
    builder.collective(tracing::CollectiveOp::AllReduce, tracing::Dimension::Data, 64'000'000,
        { onTime, onTime, ms(base, 900, 930), ms(base, 510, 930) });
}

} // namespace

void writeStragglerRun(const std::filesystem::path& file, int steps)
{
    support::TraceBuilder builder(file, 4);
    for (int rank = 0; rank < 4; ++rank) {
        tracing::RankInfo info;
        info.rank = rank;
        info.stage = rank / 2;
        info.dp = rank % 2;
        info.clockErrorNs = 80'000;
        builder.describe(info);
    }
    for (int step = 0; step < steps; ++step)
        addStep(builder, step);
    builder.finish();
}

} // namespace rankscope::app::timeline
