#include "tests/support/session_folder.h"

#include "tracing/record/recorder.h"

#include <ctime>
#include <gtest/gtest.h>

// CPU time beside wall time. Asserted are bounds that hold however busy the machine is.

namespace rankscope::tracing {

namespace {

/// Works until the thread has used this much CPU time.
void work(std::int64_t cpuNs)
{
    const std::int64_t endNs = clockNs(CLOCK_THREAD_CPUTIME_ID) + cpuNs;
    while (clockNs(CLOCK_THREAD_CPUTIME_ID) < endNs) { }
}

void sleepFor(std::int64_t ns)
{
    const timespec time{ ns / 1'000'000'000, ns % 1'000'000'000 };
    nanosleep(&time, nullptr);
}

class CpuTime : public testing::Test {
protected:
    Record last()
    {
        RingView ring(session_.files(kRingSuffix).at(0));
        return ring.record(ring.head() - 1);
    }

    SessionFolder session_;
    std::unique_ptr<Recorder> recorder_ = Recorder::open({ .sessionDir = session_.path(), .ringBytes = 256u << 10 });
};

} // namespace

TEST_F(CpuTime, ARangeThatWorksAndSleepsCountsItsWorkOnly)
{
    auto range = recorder_->range({});
    work(2'000'000);
    sleepFor(20'000'000);
    range.end();
    const Record record = last();
    ASSERT_TRUE(record.flags & kHasCpu);
    EXPECT_GE(record.range.cpuNs, 2'000'000u);
    EXPECT_LT(record.range.cpuNs, 20'000'000u);
}

TEST_F(CpuTime, ALongKernelOfATeamCountsItsLaunchingThreadForEachOfThem)
{
    recorder_->range({}).end(); // the chain of readings begins here
    auto kernel = recorder_->kernel({ .threads = 2 });
    work(5'000'000);
    kernel.end();
    const Record record = last();
    ASSERT_TRUE(record.flags & kHasCpu);
    EXPECT_GE(record.kernel.cpuNs, 9'000'000u);
}

TEST_F(CpuTime, AShortKernelIsNotMeasured)
{
    recorder_->range({}).end();
    // One of them may be preempted inside, then it is long; not all.
    int measured = 0;
    for (int i = 0; i < 50; ++i) {
        recorder_->kernel({}).end();
        measured += last().flags & kHasCpu ? 1 : 0;
    }
    EXPECT_LT(measured, 50);
}

TEST_F(CpuTime, AKernelAfterLongUnknownWorkDoesNotTakeItsLosses)
{
    recorder_->range({}).end();
    sleepFor(30'000'000);
    auto kernel = recorder_->kernel({});
    work(1'000'000);
    kernel.end();
    // Less than half of the time since the last reading: whose loss it was cannot be told.
    const Record record = last();
    EXPECT_FALSE(record.flags & kHasCpu);
}

} // namespace rankscope::tracing
