#include "app/timeline/core/run_facts.h"

#include "tracing/analysis/kernel_name.h"
#include "tracing/analysis/step_series.h"

#include <algorithm>

namespace rankscope::app::timeline {
namespace {

/// Moves a result's value to its place, or keeps the first error.
template <typename T> bool take(tracing::Result<T> result, T& place, std::string& error)
{
    if (!result) {
        error = result.error().message();
        return false;
    }
    place = std::move(*result);
    return true;
}

/// Of what the signatures name, and of communication kernels, which have none.
std::map<std::int32_t, std::string> shortNamesOf(const RunFacts& facts)
{
    std::vector<std::int32_t> indices;
    for (const tracing::KernelSignature& signature : facts.signatures)
        indices.push_back(raw(signature.name));
    for (std::size_t i = 0; i < facts.names.size(); ++i) {
        if (facts.names[i].find("nccl") != std::string::npos)
            indices.push_back(static_cast<std::int32_t>(i));
    }
    std::sort(indices.begin(), indices.end());
    indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
    std::vector<std::string> full;
    for (const std::int32_t index : indices)
        full.push_back(facts.name(index));
    const std::vector<std::string> shown = tracing::distinctKernelNames(full);
    std::map<std::int32_t, std::string> names;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        if (shown[i] != full[i])
            names.emplace(indices[i], shown[i]);
    }
    return names;
}

} // namespace

const std::string& RunFacts::shortName(std::int32_t index) const
{
    const auto found = shortNames.find(index);
    return found == shortNames.end() ? name(index) : found->second;
}

const std::string& RunFacts::name(std::int32_t index) const
{
    static const std::string unknown;
    return index >= 0 && static_cast<std::size_t>(index) < names.size() ? names[static_cast<std::size_t>(index)]
                                                                        : unknown;
}

namespace {

/// As the overview and the report count them, so that a step is as long on the band as there.
std::vector<tracing::Step> stepsOfTheRun(const std::vector<tracing::Step>& ofRanks)
{
    std::vector<tracing::Step> steps;
    for (const tracing::StepSpan& tile : tracing::tiledSteps(ofRanks))
        steps.push_back({ ofRanks.front().rank, tile.step, tile.attempt, tile.window.beginNs, tile.window.endNs });
    return steps;
}

} // namespace

tracing::Result<std::shared_ptr<const RunFacts>> readRunFacts(tracing::TraceReader& reader)
{
    auto facts = std::make_shared<RunFacts>();
    std::string error;
    // The version first: what is committed while we read makes us read again, never the other way round.
    const bool good = take(reader.dataVersion(), facts->dataVersion, error) && take(reader.run(), facts->run, error)
        && take(reader.ranks(), facts->ranks, error) && take(reader.lanes(), facts->lanes, error)
        && take(reader.names(), facts->names, error) && take(reader.signatures(), facts->signatures, error)
        && take(reader.steps(), facts->steps, error) && take(reader.window(), facts->window, error);
    if (!good)
        return tracing::Error(error);
    facts->shortNames = shortNamesOf(*facts);
    std::sort(facts->ranks.begin(), facts->ranks.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    facts->steps = stepsOfTheRun(facts->steps);
    return std::shared_ptr<const RunFacts>(std::move(facts));
}

} // namespace rankscope::app::timeline
