#include "tracing/cli/launch/mpi_command.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rankscope::tracing {

namespace {

Machine machineWith(int cores)
{
    Machine machine;
    machine.cores = cores;
    machine.mpirun = "/usr/bin/mpirun";
    return machine;
}

RunPlan planOf(int ranks, int threads)
{
    RunPlan plan;
    plan.ok = true;
    plan.ranks = ranks;
    plan.threads = threads;
    return plan;
}

/// The words between mpirun and the program, in one line.
std::string options(const ProgramCall& call)
{
    std::string line;
    for (std::size_t i = 1; i < call.words.size() && call.words[i] != "/bin/rankscope-train"; ++i)
        line += (i > 1 ? " " : "") + call.words[i];
    return line;
}

ProgramCall callOf(const RunPlan& plan, const Machine& machine)
{
    return mpiCall(plan, machine, "/dev/shm/session", "/bin/rankscope-train", { "f.toml", "train.steps=3" });
}

bool hasVariable(const ProgramCall& call, const std::string& name, const std::string& value)
{
    return std::find(call.environment.begin(), call.environment.end(), std::pair(name, value))
        != call.environment.end();
}

constexpr const char* kAlways
    = " --mca btl_vader_single_copy_mechanism none --mca odls_base_sigkill_timeout 0 "
      "-x RANKSCOPE_SESSION -x OMP_NUM_THREADS -x RANKSCOPE_CORES -x RANKSCOPE_RUN -x RANKSCOPE_ATTEMPT";

} // namespace

TEST(MpiCall, RanksWithCoresOfTheirOwnStayOnThem)
{
    EXPECT_EQ(options(callOf(planOf(2, 4), machineWith(8))),
        std::string("-n 2 --use-hwthread-cpus --bind-to hwthread --map-by slot:PE=4") + kAlways);
}

TEST(MpiCall, MoreRanksThanCoresYieldAndAreNotBound)
{
    EXPECT_EQ(options(callOf(planOf(4, 1), machineWith(2))),
        std::string("-n 4 --oversubscribe --bind-to none --mca mpi_yield_when_idle 1") + kAlways);
}

TEST(MpiCall, OnlyMoreRanksThanCoresYield)
{
    EXPECT_EQ(options(callOf(planOf(2, 1), machineWith(2))).find("yield"), std::string::npos);
}

TEST(MpiCall, AContainersQuotaForbidsBinding)
{
    Machine machine = machineWith(2);
    machine.mayBind = false;
    EXPECT_EQ(options(callOf(planOf(2, 1), machine)), std::string("-n 2 --use-hwthread-cpus --bind-to none") + kAlways);
}

TEST(MpiCall, MoreThreadsThanCoresAreNotBound)
{
    EXPECT_EQ(options(callOf(planOf(2, 4), machineWith(4))),
        std::string("-n 2 --use-hwthread-cpus --bind-to none") + kAlways);
}

TEST(MpiCall, EndsWithTheProgramAndItsArguments)
{
    const auto words = callOf(planOf(1, 1), machineWith(1)).words;
    ASSERT_GE(words.size(), 3U);
    EXPECT_EQ(std::vector(words.end() - 3, words.end()),
        (std::vector<std::string>{ "/bin/rankscope-train", "f.toml", "train.steps=3" }));
}

TEST(MpiCall, TellsTheRanksSessionThreadsAndCores)
{
    const auto call = callOf(planOf(2, 3), machineWith(6));
    EXPECT_TRUE(hasVariable(call, "RANKSCOPE_SESSION", "/dev/shm/session"));
    EXPECT_TRUE(hasVariable(call, "OMP_NUM_THREADS", "3"));
    EXPECT_TRUE(hasVariable(call, "RANKSCOPE_CORES", "6"));
    EXPECT_TRUE(hasVariable(call, "RANKSCOPE_RUN", "session"));
    EXPECT_TRUE(hasVariable(call, "RANKSCOPE_ATTEMPT", "0"));
}

TEST(MpiCall, SharedMemoryLiesWithTheSessionUnlessThatIsOnADisk)
{
    const char* variable = "OMPI_MCA_btl_vader_backing_directory";
    const auto onDisk = mpiCall(planOf(2, 1), machineWith(2), "/tmp/session", "/bin/rankscope-train", {});
    EXPECT_TRUE(hasVariable(callOf(planOf(2, 1), machineWith(2)), variable, "/dev/shm/session"));
    EXPECT_FALSE(hasVariable(onDisk, variable, "/tmp/session"));
}

TEST(MpiCall, OnlyRootNeedsTheTwoVariables)
{
    Machine machine = machineWith(2);
    EXPECT_FALSE(hasVariable(callOf(planOf(1, 1), machine), "OMPI_ALLOW_RUN_AS_ROOT", "1"));
    machine.isRoot = true;
    EXPECT_TRUE(hasVariable(callOf(planOf(1, 1), machine), "OMPI_ALLOW_RUN_AS_ROOT", "1"));
    EXPECT_TRUE(hasVariable(callOf(planOf(1, 1), machine), "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"));
}

TEST(MpiCall, WithoutARemoteShellOpenMpiIsToldToStayHere)
{
    Machine machine = machineWith(2);
    EXPECT_FALSE(hasVariable(callOf(planOf(1, 1), machine), "OMPI_MCA_plm", "isolated"));
    machine.hasRemoteShell = false;
    EXPECT_TRUE(hasVariable(callOf(planOf(1, 1), machine), "OMPI_MCA_plm", "isolated"));
}

} // namespace rankscope::tracing
