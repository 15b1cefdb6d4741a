#pragma once

#include "tracing/cli/launch/machine.h"
#include "tracing/cli/launch/run_plan.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace rankscope::tracing {

/// A program to start: its words, and what is added to our own environment.
struct ProgramCall {
    std::vector<std::string> words;
    std::vector<std::pair<std::string, std::string>> environment;
};

/// Tells ranks that are bound to some of the cores how many there are, also where a container's quota allows fewer.
std::pair<std::string, std::string> coresVariable(const Machine& machine);

/// mpirun with the settings that root, containers and more ranks than cores need. `program` and `arguments` are what
/// each rank runs; `attempt` counts its restarts. The machine has an mpirun.
ProgramCall mpiCall(const RunPlan& plan, const Machine& machine, const std::filesystem::path& sessionDir,
    const std::filesystem::path& program, const std::vector<std::string>& arguments, int attempt = 0);

} // namespace rankscope::tracing
