#include "backend/train/command_line.h"
#include "backend/train/layout.h"
#include "backend/train/plan.h"
#include "backend/train/rank_main.h"

#include <cstdio>
#include <exception>

namespace rankscope::backend {

namespace {

int plan(const CommandLine& line)
{
    const auto config = loadConfig(line.configPath, line.overrides);
    const std::vector<std::string> problems = config ? problemsOf(*config) : std::vector{ config.error().message() };
    const Config shown = config ? *config : Config{};
    if (line.json)
        std::printf("%s\n", planJson(shown, problems).c_str());
    else if (problems.empty())
        std::printf("%s", planText(shown).c_str());
    for (const std::string& problem : problems)
        std::fprintf(stderr, "rankscope-train: %s\n", problem.c_str());
    return problems.empty() ? kGood : kWrongUsage;
}

int dispatch(int argc, char** argv)
{
    const auto line = parseCommandLine(argc, argv);
    if (!line) {
        std::fprintf(stderr, "rankscope-train: %s\n", line.error().message().c_str());
        return kWrongUsage;
    }
    if (line->help) {
        std::printf("%s", helpText().c_str());
        return kGood;
    }
    return line->plan ? plan(*line) : runRank(*line);
}

} // namespace

} // namespace rankscope::backend

int main(int argc, char** argv)
{
    try {
        return rankscope::backend::dispatch(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rankscope-train: %s\n", error.what());
        return rankscope::backend::kOwnFault;
    }
}
