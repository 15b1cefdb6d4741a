// What it costs to make a run of another tool's trace, to open it, to look at a piece of it, and to report on it.
// Inputs are written here, in the shape of a PyTorch trace (265 bytes an event). Each measurement runs in a process of
// its own, whose CPU time and greatest memory the kernel tells. RS_BENCH_LARGE=1 adds a file of ten million events (2.6
// GB).

#include "tests/support/kineto_file.h"
#include "tracing/analysis/load.h"
#include "tracing/analysis/run_analysis.h"
#include "tracing/import/importer.h"
#include "tracing/store/trace_reader.h"

#include <benchmark/benchmark.h>
#include <rapidjson/filereadstream.h>
#include <rapidjson/reader.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMillion = 1'000'000;

/// A folder of this process, which goes with it.
class Workplace {
public:
    Workplace()
        : owner_(getpid())
    {
        std::string name = (fs::temp_directory_path() / "rankscope-bench-XXXXXX").string();
        if (!mkdtemp(name.data()))
            std::abort();
        path_ = name;
    }
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;
    ~Workplace()
    {
        std::error_code ignored;
        if (getpid() == owner_)
            fs::remove_all(path_, ignored);
    }

    /// Traces of so many ranks with so many events each, written once.
    std::vector<std::string> traces(int ranks, std::int64_t events)
    {
        auto& files = traces_[{ ranks, events }];
        for (int rank = 0; files.size() < static_cast<std::size_t>(ranks); ++rank) {
            files.push_back(
                (path_ / ("rank" + std::to_string(rank) + "-" + std::to_string(events) + ".json")).string());
            support::writeKinetoFile(files.back(), rank, ranks, events);
        }
        return files;
    }

    /// Their import, made once.
    std::string run(int ranks, std::int64_t events)
    {
        std::string& file = runs_[{ ranks, events }];
        if (file.empty()) {
            file = (path_ / (std::to_string(ranks) + "x" + std::to_string(events) + ".rsdb")).string();
            if (!importTraces(traces(ranks, events), file))
                std::abort();
        }
        return file;
    }

    fs::path operator/(const char* name) const { return path_ / name; }

private:
    pid_t owner_;
    fs::path path_;
    std::map<std::pair<int, std::int64_t>, std::vector<std::string>> traces_;
    std::map<std::pair<int, std::int64_t>, std::string> runs_;
};

Workplace& workplace()
{
    static Workplace place;
    return place;
}

struct Cost {
    double wallSeconds = 0;
    double cpuSeconds = 0;
    double peakMiB = 0;
};

/// Runs it in a child process; it gives whether it went well.
Cost costOf(benchmark::State& state, const std::function<bool()>& work)
{
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0)
        _exit(work() ? 0 : 1);
    int status = 1;
    rusage used{};
    if (wait4(child, &status, 0, &used) != child || status != 0)
        state.SkipWithError("the child failed");
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return { std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
        seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024 };
}

/// The least that any reader of these files has to do.
bool parse(const std::vector<std::string>& files)
{
    std::vector<char> buffer(1u << 18);
    for (const std::string& path : files) {
        std::FILE* file = std::fopen(path.c_str(), "rb");
        if (!file)
            return false;
        rapidjson::FileReadStream stream(file, buffer.data(), buffer.size());
        rapidjson::BaseReaderHandler<> nothing;
        rapidjson::Reader reader;
        const bool good = !reader.Parse(stream, nothing).IsError();
        std::fclose(file);
        if (!good)
            return false;
    }
    return true;
}

void importFiles(benchmark::State& state)
{
    const auto ranks = static_cast<int>(state.range(0));
    const std::int64_t events = state.range(1);
    const std::vector<std::string> files = workplace().traces(ranks, events);
    const std::string out = (workplace() / "out.rsdb").string();
    Cost import, parsing;
    for (auto _ : state) {
        parsing = costOf(state, [&] { return parse(files); });
        import = costOf(state, [&] { return bool(importTraces(files, out));
    });
    state.SetIterationTime(import.wallSeconds);
}
state.counters["cpu_s"] = import.cpuSeconds;
state.counters["peak_MiB"] = import.peakMiB;
state.counters["parse_cpu_s"] = parsing.cpuSeconds;
state.counters["wall_to_parse"] = import.wallSeconds / parsing.wallSeconds;
state.counters["cpu_to_parse"] = import.cpuSeconds / parsing.cpuSeconds;
state.counters["file_MB"] = static_cast<double>(fs::file_size(out)) / 1e6;
fs::remove(out);
} // namespace

/// Everything that a program needs before it can show the first picture.
void reopen(benchmark::State& state)
{
    const std::string file = workplace().run(1, state.range(0));
    for (auto _ : state) {
        auto reader = TraceReader::open(file);
        if (!reader || !loadFacts(*reader))
            state.SkipWithError("open");
    }
}

void window(benchmark::State& state)
{
    auto reader = TraceReader::open(workplace().run(1, state.range(0)));
    const auto all = reader->lanes();
    std::vector<std::pair<LaneId, std::vector<Kernel>>> lanes;
    for (const Lane& lane : *all) {
        auto rows = reader->kernels(lane.id, *reader->window());
        if (lane.kind == LaneKind::Compute && rows->size() > 2000)
            lanes.emplace_back(lane.id, std::move(*rows));
    }
    std::mt19937 random(1);
    std::size_t rows = 0, windows = 0;
    for (auto _ : state) {
        const auto& [lane, kernels] = lanes[random() % lanes.size()];
        const std::size_t first = random() % (kernels.size() - 1000);
        rows += reader->kernels(lane, { kernels[first].beginNs, kernels[first + 999].endNs })->size();
        ++windows;
    }
    state.counters["rows"] = static_cast<double>(rows) / static_cast<double>(windows);
}

/// The first time everything is counted; again the saved results are read.
void report(benchmark::State& state, bool isAgain)
{
    const std::string file = workplace().run(1, state.range(0));
    const std::string copy = (workplace() / "report.rsdb").string();
    fs::copy_file(file, copy, fs::copy_options::overwrite_existing);
    const auto analyseOnce = [&] {
        auto reader = TraceReader::open(copy);
        return reader && analyse(*reader);
    };
    Cost cost;
    if (isAgain)
        costOf(state, analyseOnce);
    for (auto _ : state) {
        if (!isAgain)
            fs::copy_file(file, copy, fs::copy_options::overwrite_existing);
        cost = costOf(state, analyseOnce);
        state.SetIterationTime(cost.wallSeconds);
    }
    state.counters["cpu_s"] = cost.cpuSeconds;
    state.counters["peak_MiB"] = cost.peakMiB;
    fs::remove(copy);
}
void reportFirst(benchmark::State& state) { report(state, false); }
void reportAgain(benchmark::State& state) { report(state, true); }

BENCHMARK(importFiles)
    ->ArgNames({ "ranks", "events" })
    ->Args({ 1, kMillion })
    ->Args({ 8, kMillion / 4 })
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(reopen)->ArgName("events")->Arg(kMillion)->Unit(benchmark::kMillisecond);
BENCHMARK(window)->ArgName("events")->Arg(kMillion)->Unit(benchmark::kMicrosecond);
BENCHMARK(reportFirst)->ArgName("events")->Arg(kMillion)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(reportAgain)->ArgName("events")->Arg(kMillion)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

/// Ten million events take minutes, and 4 GB of the disk.
const bool isLargeAdded = [] {
    const char* wanted = std::getenv("RS_BENCH_LARGE");
    if (!wanted || std::string(wanted) == "0")
        return false;
    const auto add = [](const char* name, void (*run)(benchmark::State&), std::vector<std::int64_t> arguments) {
        benchmark::RegisterBenchmark(name, run)->Args(arguments)->Iterations(1)->Repetitions(2)->UseManualTime()->Unit(
            benchmark::kMillisecond);
    };
    add("importFiles/large", importFiles, { 1, 10 * kMillion });
    add("reportFirst/large", reportFirst, { 10 * kMillion });
    add("reportAgain/large", reportAgain, { 10 * kMillion });
    return true;
}();

} // namespace rankscope::tracing

} // namespace rankscope::tracing
