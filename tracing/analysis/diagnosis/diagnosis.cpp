#include "tracing/analysis/diagnosis/diagnosis.h"

#include "tracing/analysis/diagnosis/detectors.h"

#include <algorithm>
#include <iterator>

namespace rankscope::tracing::diagnosis {

namespace {

/// Ranks of one stage that have more work in the same steps are one diagnosis: the stage's.
void mergeStages(std::vector<Diagnosis>& found, std::span<const std::int32_t> stages)
{
    const auto stageOf = [&](std::int32_t rank) -> std::optional<std::int32_t> {
        const auto index = static_cast<std::size_t>(rank);
        return rank >= 0 && index < stages.size() ? std::optional(stages[index]) : std::nullopt;
    };
    std::vector<Diagnosis> merged;
    for (Diagnosis& diagnosis : found) {
        if (diagnosis.trouble == Trouble::MoreWork)
            diagnosis.stage = stageOf(diagnosis.ranks.front());
        const auto same = std::ranges::find_if(merged, [&](const Diagnosis& other) {
            return diagnosis.stage && other.trouble == diagnosis.trouble && other.stage == diagnosis.stage;
        });
        if (same == merged.end()) {
            merged.push_back(std::move(diagnosis));
            continue;
        }
        same->ranks.push_back(diagnosis.ranks.front());
        same->excessNs += diagnosis.excessNs;
    }
    found = std::move(merged);
}

} // namespace

std::string_view toString(Trouble trouble)
{
    switch (trouble) {
    case Trouble::SlowCompute:
        return "compute_speed";
    case Trouble::MoreWork:
        return "compute_amount";
    case Trouble::Stall:
        return "stall";
    case Trouble::Pause:
        return "host";
    case Trouble::Data:
        return "data";
    case Trouble::SlowLink:
        break;
    }
    return "network";
}

std::vector<Diagnosis> diagnose(std::span<const StepMeasures> steps, std::span<const std::int32_t> stages)
{
    std::vector<Diagnosis> found;
    for (const auto detector : { slowCompute, moreWork, slowData, pausesAndStalls, slowLinks })
        std::ranges::move(detector(steps), std::back_inserter(found));
    mergeStages(found, stages);
    std::ranges::stable_sort(found, std::ranges::greater(), &Diagnosis::excessNs);
    return found;
}

} // namespace rankscope::tracing::diagnosis
