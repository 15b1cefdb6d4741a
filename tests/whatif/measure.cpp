#include "tests/whatif/measure.h"

#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"
#include "tracing/analysis/load.h"
#include "tracing/analysis/what_if.h"
#include "tracing/store/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace rankscope::whatif {

namespace {

using tracing::Error;
using tracing::Result;
namespace fs = std::filesystem;

fs::path program(const char* name)
{
    std::error_code ignored;
    return fs::read_symlink("/proc/self/exe", ignored).parent_path() / name;
}

fs::path writtenConfiguration(const fs::path& folder)
{
    const fs::path path = folder / "base.toml";
    std::ofstream(path) << baseConfiguration();
    return path;
}

struct OpenRun {
    tracing::TraceReader reader;
    tracing::RunFacts facts;
};

Result<OpenRun> opened(const fs::path& file)
{
    auto reader = tracing::TraceReader::open(file.string());
    if (!reader)
        return reader.error();
    auto facts = tracing::loadFacts(*reader);
    if (!facts)
        return facts.error();
    return OpenRun{ std::move(*reader), std::move(*facts) };
}

} // namespace

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    std::ranges::sort(values);
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

Result<double> trainedStepNs(const std::vector<std::string>& settings, const fs::path& file)
{
    support::Command command{ { program("rankscope").string(), "train", "--config",
                                  writtenConfiguration(file.parent_path()).string(), "--out", file.string() },
        {}, file.parent_path().string() };
    command.words.insert(command.words.end(), settings.begin(), settings.end());
    if (!fs::exists(file)) {
        const auto outcome = support::run(command, std::chrono::seconds(180));
        if (outcome.exitCode != 0)
            return Error(fmt::format("train: {}", outcome.error));
    }
    const auto run = opened(file);
    if (!run)
        return run.error();
    const auto all = tracing::tiledSteps(run->facts.steps);
    const auto range = tracing::countedSteps(all, run->facts.run);
    std::vector<double> steps;
    for (const tracing::StepSpan& step : range ? tracing::stepsIn(all, *range) : all)
        steps.push_back(static_cast<double>(step.window.durationNs()));
    return median(std::move(steps));
}

Result<double> predictedRatio(const fs::path& file, const std::vector<std::string>& changes)
{
    auto run = opened(file);
    if (!run)
        return run.error();
    const auto ledger = tracing::computeRunLedger(run->reader, run->facts);
    if (!ledger)
        return ledger.error();
    const auto result = tracing::whatIf(*ledger, run->facts, changes);
    if (!result)
        return result.error();
    return static_cast<double>(result->predictedStepNs) / static_cast<double>(result->baselineStepNs);
}

tracing::Status planned(const std::vector<std::string>& settings)
{
    const support::TemporaryDirectory folder;
    support::Command command{ { program("rankscope-train").string(), "--plan",
        writtenConfiguration(folder.path()).string(), "--json" } };
    command.words.insert(command.words.end(), settings.begin(), settings.end());
    const auto outcome = support::run(command);
    if (outcome.exitCode != 0)
        return Error(outcome.error);
    return tracing::Done{};
}

Result<Measured> measure(const Pair& pair, std::size_t repeats, const fs::path& folder)
{
    std::vector<double> base, changed, predicted;
    for (std::size_t i = 0; i < repeats; ++i) {
        const fs::path first = folder / fmt::format("base{}.rsdb", i),
                       second = folder / fmt::format("changed{}.rsdb", i);
        const auto before = trainedStepNs(pair.base, first), after = trainedStepNs(pair.changed, second);
        if (!before || !after)
            return before ? after.error() : before.error();
        const auto ratio = predictedRatio(first, pair.predict);
        if (!ratio)
            return ratio.error();
        base.push_back(*before);
        changed.push_back(*after);
        predicted.push_back(*before * *ratio);
    }
    const auto [least, most] = std::ranges::minmax(base);
    return Measured{ median(base), median(changed), median(predicted), (most - least) / 2 / median(base) };
}

} // namespace rankscope::whatif
