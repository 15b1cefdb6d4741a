#include "app/timeline/core/run_facts.h"

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

} // namespace

const std::string& RunFacts::name(std::int32_t index) const
{
    static const std::string unknown;
    return index >= 0 && static_cast<std::size_t>(index) < names.size() ? names[static_cast<std::size_t>(index)]
                                                                        : unknown;
}

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
    std::sort(facts->ranks.begin(), facts->ranks.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    if (!facts->steps.empty()) {
        const std::int32_t rank = facts->steps.front().rank;
        std::erase_if(facts->steps, [rank](const tracing::Step& step) { return step.rank != rank; });
    }
    return std::shared_ptr<const RunFacts>(std::move(facts));
}

} // namespace rankscope::app::timeline
