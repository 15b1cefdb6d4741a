#include "backend/fault/fault_injector.h"

#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace rankscope::backend {

namespace {

class Faults : public testing::Test {
protected:
    FaultInjector injector(const std::vector<Fault>& faults, int rank = 1, int attempt = 0)
    {
        // Two stages of two ranks each.
        return FaultInjector(
            faults, { .rank = rank, .stage = rank / 2, .attempt = attempt }, [](int of) { return of / 2; },
            { .poisonGradient = [this] { ++poisoned_; },
                .shapeLink = [this](const Link& link) { links_.push_back(link); },
                .moveMessages = [this] { ++moves_; } },
            *recorder_);
    }

    std::unique_ptr<tracing::Recorder> recorder_ = tracing::Recorder::open({});
    int poisoned_ = 0;
    int moves_ = 0;
    std::vector<Link> links_;
};

} // namespace

TEST_F(Faults, StrikeOneRankOrStageInOneAttempt)
{
    const std::vector<Fault> slow{ { .kind = "slow_rank", .rank = 1 } };
    EXPECT_FALSE(injector(slow, 1).isIdle());
    EXPECT_TRUE(injector(slow, 0).isIdle());
    EXPECT_TRUE(injector(slow, 1, 1).isIdle()) << "a restart is another attempt";
    const std::vector<Fault> stage{ { .kind = "imbalanced_stage", .rank = 1 } };
    EXPECT_FALSE(injector(stage, 0).isIdle());
    EXPECT_TRUE(injector(stage, 2).isIdle());
}

TEST_F(Faults, ASlowLinkIsSlowFromStepToStep)
{
    FaultInjector faults
        = injector({ { .kind = "slow_link", .rank = 1, .to = 0, .step = 3, .until = 4, .gbitPerSecond = 2 } });
    for (std::int64_t step = 1; step <= 6; ++step) {
        faults.beginStep(step);
        EXPECT_EQ(links_.size(), step < 3 ? 0u : step < 5 ? 1u : 2u) << "in step " << step;
    }
    EXPECT_EQ(links_[0].to, 0);
    EXPECT_EQ(links_[0].gbitPerSecond, 2);
    EXPECT_EQ(links_[1].gbitPerSecond, 0);
}

TEST_F(Faults, MessagesGoTheirWayWhileDataIsStalled)
{
    FaultInjector faults = injector({ { .kind = "stalled_data", .rank = 1, .step = 2, .ms = 1 } });
    faults.beginStep(1);
    faults.loadsBatch();
    EXPECT_EQ(moves_, 0);
    faults.beginStep(2);
    faults.loadsBatch();
    EXPECT_GT(moves_, 0);
}

TEST_F(Faults, AnExpertIsHotForAllRanksInItsSteps)
{
    FaultInjector faults = injector({ { .kind = "hot_expert", .rank = 3, .step = 2, .until = 2, .factor = 4 } }, 0);
    faults.beginStep(1);
    EXPECT_EQ(faults.hotExpert(), nullptr);
    faults.beginStep(2);
    ASSERT_NE(faults.hotExpert(), nullptr);
    EXPECT_EQ(faults.hotExpert()->rank, 3);
    EXPECT_EQ(faults.hotExpert()->factor, 4);
    faults.beginStep(3);
    EXPECT_EQ(faults.hotExpert(), nullptr);
}

TEST_F(Faults, AGradientIsPoisonedOnce)
{
    FaultInjector faults = injector({ { .kind = "nan_gradient", .rank = 1, .step = 2 } });
    for (std::int64_t step = 1; step <= 3; ++step) {
        faults.beginStep(step);
        faults.betweenKernels();
        EXPECT_EQ(poisoned_, step < 2 ? 0 : 1);
    }
}

TEST_F(Faults, ADiskIsFullInItsStepsOnly)
{
    FaultInjector faults = injector({ { .kind = "full_disk", .rank = 1, .step = 2, .until = 2 } });
    faults.beginStep(1);
    EXPECT_FALSE(faults.isDiskFull());
    faults.beginStep(2);
    EXPECT_TRUE(faults.isDiskFull());
    faults.beginStep(3);
    EXPECT_FALSE(faults.isDiskFull());
}

TEST_F(Faults, AShardLosesOneBit)
{
    const support::TemporaryDirectory folder;
    const std::string path = folder.write("rank-1.shard", "abc").string();
    FaultInjector faults = injector({ { .kind = "corrupt_shard", .rank = 1, .step = 2 } });
    faults.beginStep(1);
    faults.shardWritten(path);
    EXPECT_EQ(support::readText(path), "abc");
    faults.beginStep(2);
    faults.shardWritten(path);
    EXPECT_EQ(support::readText(path), "abb");
}

TEST_F(Faults, ALostRankDiesAtItsMomentAndStep)
{
    const pid_t child = fork();
    if (child == 0) {
        FaultInjector faults = injector({ { .kind = "lost_rank", .rank = 1, .step = 2, .moment = "all_reduce" } });
        faults.beginStep(1);
        faults.inAllReduce();
        faults.beginStep(2);
        faults.betweenKernels();
        faults.halfOfShardWritten();
        if (write(STDOUT_FILENO, "", 0) == 0)
            faults.inAllReduce();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

} // namespace rankscope::backend
