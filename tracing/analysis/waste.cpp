#include "tracing/analysis/waste.h"

#include "tracing/analysis/run_analysis.h"
#include "tracing/analysis/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace rankscope::tracing {

namespace {

std::string inEachStep(const RunAnalysis& run, std::int64_t ns, const char* word = "")
{
    const auto steps = std::ssize(run.steps);
    if (steps == 0)
        return timeText(ns) + word + " in all";
    return steps == 1 ? timeText(ns) + word
                      : fmt::format("{}{} in each of {} steps", timeText(ns / steps), word, steps);
}

std::string verbOf(const RunAnalysis& run, const std::string& cause)
{
    static const std::map<std::string, std::string> kVerbs{ { "data", "it waits for data" },
        { "checkpoint", "it writes checkpoints" }, { "copy", "it copies" }, { "network", "it is still transferring" },
        { "descheduled", "it has no core for its kernels" }, { "launch", "its launches are on their way" },
        { "kernel_gap", "it has short gaps between kernels" }, { "planned", "it validates" },
        { "unattributed", "it has nothing recorded" } };
    if (cause == "host")
        return run.gpuTime ? "its host launches nothing" : "it runs no kernel";
    const auto found = kVerbs.find(cause);
    return found == kVerbs.end() ? std::string() : found->second;
}

std::string computeText(const RunAnalysis& run, const Lateness& late, const std::string& cause)
{
    std::string text = "it computes longer";
    if (late.peersCauseNs > 0) {
        text = fmt::format("it computes {:.2f} times as long as its peers",
            static_cast<double>(late.causeNs) / static_cast<double>(late.peersCauseNs));
    }
    if (cause == "compute_amount")
        text += ", because it has more work";
    if (cause == "compute_speed")
        text += ", because it is slower at the same work";
    const std::int64_t moreNs = late.causeNs - late.peersCauseNs;
    return moreNs > 0 ? fmt::format("{} ({})", text, inEachStep(run, moreNs, " more")) : text;
}

} // namespace

std::vector<Waste> wastesOf(const RunAnalysis& run)
{
    std::map<Waste::Kind, std::int64_t> left{ { Waste::Kind::Wait, run.total.awaitingNs() },
        { Waste::Kind::Bubble, run.total.bubbleNs() }, { Waste::Kind::Transfer, run.total.transferNs },
        { Waste::Kind::Unsplit, run.total.unsplitNs }, { Waste::Kind::Copy, run.total.copyNs },
        { Waste::Kind::Data, run.total.dataNs }, { Waste::Kind::Checkpoint, run.total.checkpointNs },
        { Waste::Kind::Descheduled, run.sharedCores() ? 0 : run.total.descheduledNs },
        { Waste::Kind::Host, run.total.hostNs }, { Waste::Kind::Gaps, run.total.gapNs() },
        { Waste::Kind::Lost, run.total.lostNs + run.total.downNs }, { Waste::Kind::Idle, run.total.unattributedNs() } };
    static const std::map<std::string, Waste::Kind> kOwn{ { "host", Waste::Kind::Host }, { "data", Waste::Kind::Data },
        { "checkpoint", Waste::Kind::Checkpoint }, { "copy", Waste::Kind::Copy }, { "network", Waste::Kind::Transfer },
        { "launch", Waste::Kind::Gaps }, { "kernel_gap", Waste::Kind::Gaps }, { "unattributed", Waste::Kind::Idle } };
    std::vector<Waste> wastes;
    for (const Lateness& late : run.late) {
        const auto own = late.causes.empty() ? kOwn.end() : kOwn.find(late.causes.front().cause);
        const std::int64_t ownNs = own == kOwn.end() ? 0 : std::min(late.ownNs, left[own->second]);
        wastes.push_back({ Waste::Kind::LateRank, late.waitNs + ownNs, &late });
        left[Waste::Kind::Wait] -= late.waitNs;
        if (ownNs > 0)
            left[own->second] -= ownNs;
    }
    for (const auto& [kind, ns] : left)
        wastes.push_back({ kind, ns });
    std::erase_if(wastes, [](const Waste& waste) { return waste.ns <= 0; });
    std::stable_sort(wastes.begin(), wastes.end(), [](const Waste& a, const Waste& b) { return a.ns > b.ns; });
    return wastes;
}

std::string causeText(const RunAnalysis& run, const Lateness& late)
{
    if (late.causes.empty())
        return {};
    const std::string& cause = late.causes.front().cause;
    if (cause == "before the recording")
        return "the cause lies before the recording";
    if (cause.starts_with("compute"))
        return computeText(run, late, cause);
    const std::string verb = verbOf(run, cause);
    if (verb.empty())
        return {};
    const std::int64_t ns = late.hostRange.empty() ? late.causeNs : late.hostRangeNs;
    const std::string where = late.hostRange.empty() ? std::string() : fmt::format(" ({})", late.hostRange);
    return ns > 0 ? fmt::format("{} for {}{}", verb, inEachStep(run, ns), where) : verb;
}

std::string gainText(const RunAnalysis& run, const Lateness& late)
{
    constexpr double kWorthSaying = 0.01;
    if (late.causes.empty())
        return {};
    const auto saving = std::ranges::find_if(run.savings, [&](const Saving& candidate) {
        return candidate.culprit == late.rank && candidate.cause == late.causes.front().cause;
    });
    if (saving == run.savings.end() || saving->prediction.savedShare() < kWorthSaying)
        return {};
    const std::int64_t parts = std::max<std::int64_t>(1, run.savingSteps);
    const Prediction& p = saving->prediction;
    const std::string low = timeText(p.lowNs / parts), high = timeText(p.highNs / parts);
    return fmt::format("{} would take {} instead of {} (replay{})", run.savingSteps > 0 ? "a step" : "the run",
        timeText(p.predictedNs / parts), timeText(p.baselineNs / parts),
        low == high ? std::string() : ", " + rangeText(p.lowNs / parts, p.highNs / parts));
}

} // namespace rankscope::tracing
