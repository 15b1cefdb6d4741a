#include "tracing/collector/run_clock.h"
#include "tracing/collector/run_session.h"
#include "tracing/record/recorder.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

// What the collector costs: events a second of one core, rings to SQLite with tiles and matching, and bytes an event.
// Four ranks record the mix of a small training run as fast as they can into rings that hold all of it; then the
// collector takes it. `spacing` is the time between two kernels: close together, many events share a tile; 20 us apart
// is what a real job looks like.

namespace rankscope::tracing {

namespace {

constexpr int kRanks = 4;

void waitTicks(ClockKind clock, std::uint64_t ticks)
{
    const std::uint64_t begin = readTicks(clock);
    while (readTicks(clock) - begin < ticks) { }
}

/// Of 16 events 12 are kernels, 2 ranges, 1 an all-reduce, 1 a counter.
void recordRank(const std::string& session, std::int32_t rank, int groups, std::int64_t spacingNs)
{
    Recorder::Options options;
    options.sessionDir = session;
    options.rank = rank;
    options.worldSize = kRanks;
    options.ringBytes = 32u << 20;
    const auto recorder = Recorder::open(options);
    std::vector<std::int32_t> members(kRanks);
    std::iota(members.begin(), members.end(), 0);
    const auto world = recorder->communicator("dp 0", Dimension::Data, members);
    const LocalName names[]{ recorder->name("matmul"), recorder->name("softmax"), recorder->name("gelu") };
    const LocalName loss = recorder->name("loss [nats]");
    const Calibration clock = calibrateClock();
    const auto pause = static_cast<std::uint64_t>(static_cast<double>(spacingNs) / clock.nsPerTick);
    for (int group = 0; group < groups; ++group) {
        const auto number = static_cast<std::uint32_t>(group);
        auto step = recorder->range({ .kind = RangeKind::Step, .step = number });
        auto forward = recorder->range({ .kind = RangeKind::Forward, .microBatch = std::uint16_t{ 1 } });
        for (int i = 0; i < 12; ++i) {
            auto kernel = recorder->kernel({ .name = names[i % 3],
                .pass = Pass::Forward,
                .flop = 1e6,
                .bytes = 4e4,
                .microBatch = std::uint16_t{ 1 },
                .work = 64 });
            waitTicks(clock.kind, pause);
        }
        forward.end();
        auto reduce = recorder->collective(
            { .op = CollectiveOp::AllReduce, .communicator = world, .sequence = number, .bytes = 65536 });
        waitTicks(clock.kind, pause);
        reduce.end();
        recorder->counter(loss, 1.0 / group);
    }
}

void collectEvents(benchmark::State& state)
{
    const std::int64_t spacingNs = state.range(0);
    const int groups = spacingNs > 1000 ? 2500 : 25000;
    std::uint64_t events = 0, bytes = 0;
    for (auto _ : state) {
        state.PauseTiming();
        std::string root = "/tmp/rankscope-bench-XXXXXX";
        root = mkdtemp(root.data());
        const std::string session = root + "/session";
        std::filesystem::create_directory(session);
        const auto clock = RunClock::ofSession(session, std::nullopt);
        std::vector<pid_t> ranks;
        for (int rank = 0; rank < kRanks; ++rank) {
            const pid_t child = fork();
            if (child == 0) {
                recordRank(session, rank, groups, spacingNs);
                _exit(0);
            }
            ranks.push_back(child);
        }
        for (const pid_t rank : ranks)
            waitpid(rank, nullptr, 0);
        state.ResumeTiming();

        auto run = RunSession::open({ session, root + "/run.rsdb", "bench", false }, *clock);
        for (const auto& entry : std::filesystem::directory_iterator(session)) {
            if (entry.path().extension() == kRingSuffix && !(*run)->addRing(entry.path().string()))
                state.SkipWithError("ring");
        }
        for (;;) {
            const auto result = (*run)->pass();
            if (!result)
                state.SkipWithError(result.error().message().c_str());
            if (!result || (result->records == 0 && (*run)->writersLeft() == 0))
                break;
        }
        events += (*run)->taken();

        state.PauseTiming();
        if (!(*run)->finish())
            state.SkipWithError("finish");
        run->reset();
        bytes += std::filesystem::file_size(root + "/run.rsdb");
        std::filesystem::remove_all(root);
        state.ResumeTiming();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(events));
    state.counters["bytes_per_event"] = static_cast<double>(bytes) / static_cast<double>(events);
}
BENCHMARK(collectEvents)->ArgName("spacing_ns")->Arg(300)->Arg(20000)->Iterations(1)->Unit(benchmark::kMillisecond);

} // namespace

} // namespace rankscope::tracing
