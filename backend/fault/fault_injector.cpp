#include "backend/fault/fault_injector.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <fstream>
#include <thread>
#include <utility>

namespace rankscope::backend {

namespace {

using std::chrono::nanoseconds;

nanoseconds nsOf(double ms) { return nanoseconds(static_cast<std::int64_t>(ms * 1e6)); }

nanoseconds scaled(nanoseconds time, double factor)
{
    return nanoseconds(static_cast<std::int64_t>(static_cast<double>(time.count()) * factor));
}

bool isLasting(std::string_view kind)
{
    return kind != "lost_rank" && kind != "hung_rank" && kind != "corrupt_shard" && kind != "nan_gradient";
}

nanoseconds threadCpuTime()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

/// Arithmetic on a few registers for so much time on a core, however long that takes on a busy machine: what lasts
/// longer than its CPU time is no slow rank but one without a core. Gives the operations done.
double compute(nanoseconds time)
{
    std::array<float, 64> sums{};
    double flop = 0;
    const nanoseconds end = threadCpuTime() + time;
    while (threadCpuTime() < end) {
        for (int round = 0; round < 256; ++round) {
            for (std::size_t i = 0; i < sums.size(); ++i)
                sums[i] = sums[i] * 0.999f + 1.0f;
        }
        flop += 2.0 * 256 * sums.size();
    }
    volatile float kept = sums[0]; // so that the work is done
    static_cast<void>(kept);
    return flop;
}

void flipOneBit(const std::string& path)
{
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1, std::ios::end);
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(-1, std::ios::end);
    file.put(byte);
}

} // namespace

FaultInjector::FaultInjector(const std::vector<Fault>& faults, const Place& place,
    const std::function<int(int rank)>& stageOf, Actions actions, tracing::Recorder& recorder)
    : rank_(place.rank)
    , actions_(std::move(actions))
    , recorder_(recorder)
    , chance_(place.seed * 1000003 + static_cast<std::uint64_t>(place.rank))
{
    for (const Fault& fault : faults) {
        const bool isHere = fault.kind == "hot_expert"
            || (fault.kind == "imbalanced_stage" ? stageOf(fault.rank) == place.stage : fault.rank == place.rank);
        if (isHere && fault.attempt == place.attempt)
            faults_.push_back({ .fault = fault, .nextPause = {} });
    }
    if (!isIdle())
        extraWork_ = recorder.name("extra layer work");
}

void FaultInjector::tell(Struck& struck, bool isOver)
{
    if (struck.fault.kind == "hot_expert" && struck.fault.rank != rank_)
        return; // everybody has a part in it; one says so
    if (!isOver) {
        struck.beginTicks = recorder_.now();
        struck.beginStep = step_;
    }
    recorder_.fault({ .kind = struck.fault.kind,
        .rank = struck.fault.rank,
        .step = struck.beginStep,
        .beginTicks = struck.beginTicks,
        .endTicks = isOver ? recorder_.now() : 0,
        .detail = settingsOf(struck.fault) });
}

void FaultInjector::turn(Struck& struck, bool on)
{
    struck.isOn = on;
    tell(struck, !on);
    const Fault& fault = struck.fault;
    if (fault.kind == "slow_link" && actions_.shapeLink)
        actions_.shapeLink(on ? Link{ fault.rank, fault.to, fault.gbitPerSecond, fault.delayUs }
                              : Link{ .from = fault.rank, .to = fault.to });
    if (fault.kind == "full_disk")
        isDiskFull_ = on;
    struck.nextPause = Clock::now() + nsOf(fault.everyMs);
}

void FaultInjector::beginStep(std::int64_t step)
{
    step_ = step;
    stepBegan_ = Clock::now();
    for (Struck& struck : faults_) {
        if (isLasting(struck.fault.kind) && struck.isOn != struck.fault.isAt(step))
            turn(struck, !struck.isOn);
    }
}

void FaultInjector::strikeAt(std::string_view moment)
{
    for (Struck& struck : faults_) {
        const Fault& fault = struck.fault;
        const bool ends = fault.kind == "lost_rank" || fault.kind == "hung_rank";
        if (!ends || struck.isDone || fault.moment != moment || step_ < fault.step
            || (moment == "forward" && Clock::now() < stepBegan_ + nsOf(fault.ms)))
            continue;
        struck.isDone = true;
        tell(struck, false);
        raise(fault.kind == "lost_rank" ? SIGKILL : SIGSTOP);
    }
}

void FaultInjector::insideKernel(nanoseconds took)
{
    for (const Struck& struck : faults_) {
        if (!struck.isOn)
            continue;
        if (struck.fault.kind == "slow_rank")
            compute(scaled(took, struck.fault.factor - 1));
        else if (struck.fault.kind == "imbalanced_stage")
            owed_ += scaled(took, struck.fault.factor - 1);
        else if (struck.fault.kind == "jitter" && chance_() % 8 == 0)
            std::this_thread::sleep_for(nsOf(struck.fault.ms * static_cast<double>(chance_() % 1000) / 1000));
    }
}

void FaultInjector::betweenKernels()
{
    strikeAt("forward");
    for (Struck& struck : faults_) {
        if (struck.fault.kind == "nan_gradient" && !struck.isDone && step_ >= struck.fault.step) {
            struck.isDone = true;
            tell(struck, false);
            actions_.poisonGradient();
        }
        if (struck.fault.kind == "host_pause" && struck.isOn && Clock::now() >= struck.nextPause) {
            std::this_thread::sleep_for(nsOf(struck.fault.ms));
            struck.nextPause = Clock::now() + nsOf(struck.fault.everyMs);
        }
    }
    addWork();
}

/// What the stage has more to compute than the others, as a kernel of its own.
void FaultInjector::addWork()
{
    constexpr nanoseconds kWorthIt{ 50'000 };
    if (owed_ < kWorthIt)
        return;
    const tracing::OpenSpan span
        = recorder_.kernel({ .name = extraWork_, .pass = tracing::Pass::Forward, .threads = 1 });
    compute(std::exchange(owed_, nanoseconds(0)));
}

void FaultInjector::loadsBatch()
{
    for (const Struck& struck : faults_) {
        if (struck.isOn && struck.fault.kind == "stalled_data")
            waitForData(nsOf(struck.fault.ms));
    }
}

/// A message that was sent before goes its way meanwhile, as it does where a network card or another thread moves it.
void FaultInjector::waitForData(nanoseconds time) const
{
    constexpr nanoseconds kLook{ 200'000 };
    const Clock::time_point end = Clock::now() + time;
    for (auto left = time; left > nanoseconds(0); left = end - Clock::now()) {
        std::this_thread::sleep_for(std::min(left, actions_.moveMessages ? kLook : left));
        if (actions_.moveMessages)
            actions_.moveMessages();
    }
}

const Fault* FaultInjector::hotExpert() const
{
    const auto hot = std::ranges::find_if(
        faults_, [](const Struck& struck) { return struck.isOn && struck.fault.kind == "hot_expert"; });
    return hot == faults_.end() ? nullptr : &hot->fault;
}

void FaultInjector::inAllReduce() { strikeAt("all_reduce"); }

void FaultInjector::halfOfShardWritten() { strikeAt("checkpoint"); }

void FaultInjector::shardWritten(const std::string& path)
{
    for (Struck& struck : faults_) {
        if (struck.fault.kind != "corrupt_shard" || struck.isDone || step_ < struck.fault.step)
            continue;
        struck.isDone = true;
        tell(struck, false);
        flipOneBit(path);
    }
}

} // namespace rankscope::backend
