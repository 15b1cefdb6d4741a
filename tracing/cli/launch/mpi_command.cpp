#include "tracing/cli/launch/mpi_command.h"

#include "tracing/model/check.h"

#include <fmt/format.h>

namespace rankscope::tracing {

namespace {

void append(std::vector<std::string>& words, std::initializer_list<const char*> more)
{
    words.insert(words.end(), more.begin(), more.end());
}

/// With a core for each thread of each rank, ranks stay on their cores; else the kernel's scheduler decides.
void appendPlacement(std::vector<std::string>& words, const RunPlan& plan, const Machine& machine)
{
    if (plan.ranks > machine.cores) {
        // Yielding doubles latency where every rank has a core of its own, so it is for this case only.
        append(words, { "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1" });
        return;
    }
    // Cores here are what the system calls CPUs; Open MPI would count two hardware threads as one slot.
    append(words, { "--use-hwthread-cpus" });
    if (machine.mayBind && plan.ranks * plan.threads <= machine.cores) {
        append(words, { "--bind-to", "hwthread", "--map-by" });
        words.push_back(fmt::format("slot:PE={}", plan.threads));
    } else {
        append(words, { "--bind-to", "none" });
    }
}

} // namespace

std::pair<std::string, std::string> coresVariable(const Machine& machine)
{
    return { "RANKSCOPE_CORES", fmt::format("{}", machine.cores) };
}

ProgramCall mpiCall(const RunPlan& plan, const Machine& machine, const std::filesystem::path& sessionDir,
    const std::filesystem::path& program, const std::vector<std::string>& arguments, int attempt)
{
    RS_CHECK(machine.mpirun.has_value(), "the machine has an mpirun");
    ProgramCall call;
    call.words = { machine.mpirun->string(), "-n", fmt::format("{}", plan.ranks) };
    appendPlacement(call.words, plan, machine);
    // Twice the bandwidth between processes of one node here; containers often forbid the single copy anyway.
    append(call.words, { "--mca", "btl_vader_single_copy_mechanism", "none" });
    // Where a rank dies, the others wait for it in vain and mind no milder signal: two seconds sooner.
    append(call.words, { "--mca", "odls_base_sigkill_timeout", "0" });
    append(call.words, { "-x", "RANKSCOPE_SESSION", "-x", "OMP_NUM_THREADS", "-x", "RANKSCOPE_CORES" });
    append(call.words, { "-x", "RANKSCOPE_RUN", "-x", "RANKSCOPE_ATTEMPT" });
    call.words.push_back(program.string());
    call.words.insert(call.words.end(), arguments.begin(), arguments.end());

    call.environment = { { "RANKSCOPE_SESSION", sessionDir.string() },
        { "OMP_NUM_THREADS", fmt::format("{}", plan.threads) }, coresVariable(machine),
        { "RANKSCOPE_RUN", sessionDir.filename().string() }, { "RANKSCOPE_ATTEMPT", fmt::format("{}", attempt) } };
    // Open MPI's shared memory lies beside the rings and goes with them, also when mpirun is killed. Where the session
    // is on a disk, it stays where Open MPI puts it.
    if (sessionDir.string().starts_with("/dev/shm/"))
        call.environment.emplace_back("OMPI_MCA_btl_vader_backing_directory", sessionDir.string());
    if (machine.isRoot) {
        call.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
        call.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    if (!machine.hasRemoteShell)
        call.environment.emplace_back("OMPI_MCA_plm", "isolated");
    return call;
}

} // namespace rankscope::tracing
