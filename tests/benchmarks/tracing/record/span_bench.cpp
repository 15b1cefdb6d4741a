#include "tracing/record/clock.h"
#include "tracing/record/recorder.h"
#include "tracing/record/ring_layout.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// What recording costs the rank. A ring that nobody drains would fill, so the benchmark plays a collector that is
// always up to date: it moves the tail every 32,768 spans.

namespace rankscope::tracing {

namespace {

class BenchSession {
public:
    BenchSession()
    {
        path_ = mkdtemp(path_.data());
        recorder_ = Recorder::open({ .sessionDir = path_ });
        recorder_->counter({}, 0);
        for (const auto& entry : std::filesystem::directory_iterator(path_)) {
            if (entry.path().extension() == kRingSuffix)
                map(entry.path().string());
        }
    }
    ~BenchSession()
    {
        recorder_.reset();
        munmap(header_, sizeof(RingHeader));
        std::filesystem::remove_all(path_);
    }
    BenchSession(const BenchSession&) = delete;
    BenchSession& operator=(const BenchSession&) = delete;

    Recorder& recorder() { return *recorder_; }
    void drain(std::int64_t spans)
    {
        if (spans % 32768 == 0)
            header_->tail.store(header_->head.load());
    }

private:
    void map(const std::string& ring)
    {
        const int file = open(ring.c_str(), O_RDWR);
        header_
            = static_cast<RingHeader*>(mmap(nullptr, sizeof(RingHeader), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        close(file);
    }

    std::string path_ = "/dev/shm/rankscope-bench-XXXXXX";
    std::unique_ptr<Recorder> recorder_;
    RingHeader* header_ = nullptr;
};

void twoCounterReads(benchmark::State& state)
{
    const ClockKind clock = chooseClock();
    for (auto _ : state) {
        benchmark::DoNotOptimize(readTicks(clock));
        benchmark::DoNotOptimize(readTicks(clock));
    }
}
BENCHMARK(twoCounterReads);

void kernelSpan(benchmark::State& state)
{
    BenchSession session;
    const LocalName name = session.recorder().name("matmul");
    std::int64_t spans = 0;
    for (auto _ : state) {
        auto span = session.recorder().kernel({ .name = name, .pass = Pass::Forward, .flop = 1e6, .bytes = 1e4 });
        span.end();
        session.drain(++spans);
    }
}
BENCHMARK(kernelSpan);

void collectiveSpan(benchmark::State& state)
{
    BenchSession session;
    std::int64_t spans = 0;
    for (auto _ : state) {
        auto span = session.recorder().collective({ .op = CollectiveOp::AllReduce, .sequence = 1, .bytes = 4096 });
        span.end();
        session.drain(++spans);
    }
}
BENCHMARK(collectiveSpan);

/// With its CPU time: a system call at the end, hence rare events only.
void rangeSpan(benchmark::State& state)
{
    BenchSession session;
    std::int64_t spans = 0;
    for (auto _ : state) {
        auto span = session.recorder().range({ .kind = RangeKind::Forward });
        span.end();
        session.drain(++spans);
    }
}
BENCHMARK(rangeSpan);

void counterSample(benchmark::State& state)
{
    BenchSession session;
    std::int64_t samples = 0;
    for (auto _ : state) {
        session.recorder().counter({}, 1.5);
        session.drain(++samples);
    }
}
BENCHMARK(counterSample);

void spanWithoutASession(benchmark::State& state)
{
    const auto recorder = Recorder::open({});
    for (auto _ : state) {
        auto span = recorder->kernel({});
        span.end();
        benchmark::DoNotOptimize(span);
    }
}
BENCHMARK(spanWithoutASession);

} // namespace

} // namespace rankscope::tracing
