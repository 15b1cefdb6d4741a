// What a look at the ledger of a growing run costs when one step has come in since the last, by the steps that were
// there before; and what counting the whole run at each look would cost.

#include "tracing/analysis/live_ledger.h"

#include "tests/support/growing_run.h"
#include "tests/support/temporary_directory.h"
#include "tracing/analysis/load.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kStepsBetweenLooks = 50; ///< while it is brought to its length

template <typename T> T must(Result<T> result)
{
    if (!result) {
        std::fprintf(stderr, "live_ledger_bench: %s\n", result.error().message().c_str());
        std::abort();
    }
    return std::move(*result);
}

/// A run of four ranks that only grows: the benchmarks ask for ever more steps of it.
class Growing {
public:
    void growTo(std::int64_t steps)
    {
        while (steps_ < steps) {
            add(std::min(kStepsBetweenLooks, steps - steps_));
            look();
        }
    }

    void add(std::int64_t steps)
    {
        run_.play(steps);
        run_.write(run_.left());
        steps_ += steps;
    }

    RunLedger look() { return must(live_.refresh(reader_, must(loadFactsWithoutSteps(reader_)))); }
    RunLedger whole() { return must(computeRunLedger(reader_, must(loadFacts(reader_)))).summary; }
    std::int64_t steps() const { return steps_; }
    const LiveLedger::Work& lastWork() const { return live_.lastWork(); }

private:
    support::TemporaryDirectory directory_;
    support::GrowingRun run_{ directory_ / "run.rsdb", {} };
    TraceReader reader_ = must(TraceReader::open((directory_ / "run.rsdb").string()));
    LiveLedger live_;
    std::int64_t steps_ = 0;
};

/// Shared by the benchmarks of one kind, which come in the order of their lengths.
Growing& grown(std::unique_ptr<Growing>& run, std::int64_t steps)
{
    if (!run || run->steps() > steps)
        run = std::make_unique<Growing>();
    run->growTo(steps);
    return *run;
}

void LookAtOneNewStep(benchmark::State& state)
{
    static std::unique_ptr<Growing> run;
    Growing& growing = grown(run, state.range(0));
    std::size_t counted = 0;
    RunLedger ledger;
    for ([[maybe_unused]] auto _ : state) {
        state.PauseTiming();
        growing.add(1);
        state.ResumeTiming();
        ledger = growing.look();
        counted += growing.lastWork().stepsCounted;
    }
    std::size_t bytes = 0;
    for (const ledger::LedgerRow& row : ledger.rows)
        bytes += sizeof(row) + row.culprits.size() * sizeof(row.culprits[0]);
    state.counters["steps_counted"] = static_cast<double>(counted) / static_cast<double>(state.iterations());
    state.counters["row_bytes_a_step"] = static_cast<double>(bytes) / static_cast<double>(ledger.steps.size());
}
BENCHMARK(LookAtOneNewStep)->Arg(10)->Arg(100)->Arg(1'000)->Arg(10'000)->Iterations(20)->Unit(benchmark::kMillisecond);

void CountTheWholeRun(benchmark::State& state)
{
    static std::unique_ptr<Growing> run;
    Growing& growing = grown(run, state.range(0));
    for ([[maybe_unused]] auto _ : state)
        benchmark::DoNotOptimize(growing.whole());
}
BENCHMARK(CountTheWholeRun)->Arg(10)->Arg(100)->Arg(1'000)->Iterations(2)->Unit(benchmark::kMillisecond);

} // namespace

} // namespace rankscope::tracing
