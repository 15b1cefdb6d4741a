#include "tests/app/support/sample_run.h"

namespace rankscope::app {

using namespace tracing;

void addStep(support::TraceBuilder& trace, int step)
{
    const std::int64_t begin = (step - 1) * kStepNs;
    const auto at = [begin](std::int64_t from, std::int64_t to) {
        return Window{ begin + from * kMs, begin + to * kMs };
    };
    trace.step(0, step, at(0, 100)).step(1, step, at(0, 100));
    trace.kernel(0, at(0, 60), "matmul", { .flop = 1'000'000, .bytes = 4096 });
    trace.bubble(1, at(0, 10), BubblePhase::Fill, 0);
    trace.kernel(1, at(10, 80), "matmul", { .flop = 1'000'000, .bytes = 4096 });
    trace.collective(CollectiveOp::AllReduce, Dimension::Data, 4'000'000, { at(60, 90), at(80, 90) });
    trace.counter(1, "loss", "nats", begin + 95 * kMs, 2.0 + 3.0 / step);
    trace.counter(1, "held-out loss", "nats", begin + 95 * kMs, 2.1 + 3.0 / step);
}

void writeSampleRun(const std::filesystem::path& file, int steps)
{
    support::TraceBuilder trace(file, 2);
    for (int step = 1; step <= steps; ++step)
        addStep(trace, step);
    trace.finish();
}

} // namespace rankscope::app
