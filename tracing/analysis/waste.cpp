#include "tracing/analysis/waste.h"

#include "tracing/analysis/run_analysis.h"
#include "tracing/analysis/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace rankscope::tracing {

namespace {

std::size_t indexOfRank(const RunAnalysis& run, std::int32_t rank)
{
    const auto found = std::find_if(
        run.ranks.begin(), run.ranks.end(), [&](const RankAnalysis& candidate) { return candidate.info.rank == rank; });
    return static_cast<std::size_t>(found - run.ranks.begin());
}

std::string perStepText(const RunAnalysis& run, std::int64_t ns)
{
    if (run.steps.empty())
        return timeText(ns) + " more in all";
    return timeText(ns / static_cast<std::int64_t>(run.steps.size())) + " more in each step";
}

} // namespace

std::vector<Waste> wastesOf(const RunAnalysis& run)
{
    std::vector<Waste> wastes;
    std::int64_t waitNs = run.total.waitNs;
    for (std::int32_t late = 0; late < run.facts.run.worldSize; ++late) {
        std::int64_t ns = 0;
        for (const RankAnalysis& rank : run.ranks) {
            if (static_cast<std::size_t>(late) < rank.waitForRankNs.size())
                ns += rank.waitForRankNs[static_cast<std::size_t>(late)];
        }
        wastes.push_back({ Waste::Kind::WaitForRank, ns, late });
        waitNs -= ns;
    }
    wastes.push_back({ Waste::Kind::Wait, waitNs });
    wastes.push_back({ Waste::Kind::Bubble, run.total.bubbleNs() });
    wastes.push_back({ Waste::Kind::Transfer, run.total.transferNs });
    wastes.push_back({ Waste::Kind::Unsplit, run.total.unsplitNs });
    wastes.push_back({ Waste::Kind::Copy, run.total.copyNs });
    wastes.push_back({ Waste::Kind::Data, run.total.dataNs });
    wastes.push_back({ Waste::Kind::Checkpoint, run.total.checkpointNs });
    wastes.push_back({ Waste::Kind::Descheduled, run.sharedCores() ? 0 : run.total.descheduledNs });
    wastes.push_back({ Waste::Kind::Gaps, run.total.kernelGapNs });
    wastes.push_back({ Waste::Kind::Idle, run.total.idleNs });
    std::erase_if(wastes, [](const Waste& waste) { return waste.ns <= 0; });
    std::stable_sort(wastes.begin(), wastes.end(), [](const Waste& a, const Waste& b) { return a.ns > b.ns; });
    return wastes;
}

std::string causeOfLateness(const RunAnalysis& run, std::int32_t rank)
{
    struct Activity {
        std::int64_t TimeSplit::*ns;
        const char* verb;
    };
    constexpr std::array<Activity, 6> kActivities{ { { &TimeSplit::computeNs, "computes" },
        { &TimeSplit::descheduledNs, "has no core for its kernels" }, { &TimeSplit::dataNs, "waits for data" },
        { &TimeSplit::checkpointNs, "writes checkpoints" }, { &TimeSplit::copyNs, "copies" },
        { &TimeSplit::idleNs, "has nothing recorded" } } };

    const std::size_t own = indexOfRank(run, rank);
    if (own >= run.ranks.size() || run.ranks.size() < 2)
        return {};
    const auto others = static_cast<std::int64_t>(run.ranks.size()) - 1;
    std::int64_t mostNs = 0;
    std::string text;
    for (const Activity& activity : kActivities) {
        const std::int64_t ownNs = run.ranks[own].split.*activity.ns;
        const std::int64_t meanNs = (run.total.*activity.ns - ownNs) / others;
        // Less than a hundredth of the window is noise, not a cause.
        if (ownNs - meanNs <= std::max(mostNs, run.window.durationNs() / 100))
            continue;
        mostNs = ownNs - meanNs;
        text = meanNs > 0 && activity.ns == &TimeSplit::computeNs
            ? fmt::format("it computes {:.2f} times as long as the others ({})",
                static_cast<double>(ownNs) / static_cast<double>(meanNs), perStepText(run, mostNs))
            : fmt::format("it {}: {} than the others on average", activity.verb, perStepText(run, mostNs));
    }
    return text;
}

} // namespace rankscope::tracing
