#include "tracing/analysis/diagnosis_findings.h"

#include "tracing/analysis/diagnosis/step_reader.h"
#include "tracing/analysis/run_analysis.h"
#include "tracing/analysis/waste.h"
#include "tracing/analysis/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace rankscope::tracing {

namespace {

using diagnosis::Diagnosis;
using diagnosis::Trouble;

/// As the engine names its annotations.
constexpr std::string_view kFailed = "checkpoint failed: ", kSkipped = "checkpoint skipped: ";

std::vector<std::int32_t> stagesOf(const RunAnalysis& run)
{
    std::vector<std::int32_t> stages;
    for (const RankInfo& rank : run.facts.ranks) {
        if (rank.rank < 0 || !rank.stage)
            return {};
        stages.resize(std::max(stages.size(), static_cast<std::size_t>(rank.rank) + 1));
        stages[static_cast<std::size_t>(rank.rank)] = *rank.stage;
    }
    const bool several = std::ranges::any_of(stages, [](std::int32_t stage) { return stage > 0; });
    return several ? stages : std::vector<std::int32_t>();
}

Status readCheckpointTroubles(TraceReader& reader, RunAnalysis& run)
{
    const auto isTrouble
        = [](const std::string& name) { return name.starts_with(kFailed) || name.starts_with(kSkipped); };
    if (std::ranges::none_of(run.facts.names, isTrouble))
        return Done{};
    for (const Lane& lane : run.facts.lanes) {
        if (lane.kind != LaneKind::Host)
            continue;
        const Status read = reader.visit<Range>(lane.id, run.facts.window, [&](std::span<const Range> ranges) {
            for (const Range& range : ranges) {
                const auto name = static_cast<std::size_t>(raw(range.name));
                if (name >= run.facts.names.size() || !isTrouble(run.facts.names[name]))
                    continue;
                const std::string& text = run.facts.names[name];
                run.checkpointTroubles.push_back({ lane.rank, range.step.value_or(0), text.starts_with(kSkipped),
                    { range.beginNs, range.endNs }, text.substr(text.find(": ") + 2) });
            }
            return true;
        });
        if (!read)
            return read;
    }
    return Done{};
}

std::string rankOrStage(const Diagnosis& diagnosis)
{
    return diagnosis.stage ? fmt::format("Stage {}", *diagnosis.stage)
                           : fmt::format("Rank {}", diagnosis.ranks.front());
}

std::string stepsText(const Diagnosis& diagnosis)
{
    return diagnosis.lasts ? fmt::format("since step {}", diagnosis.firstStep)
                           : fmt::format("in steps {} to {}", diagnosis.firstStep, diagnosis.lastStep);
}

std::string titleOf(const Diagnosis& diagnosis)
{
    const std::string who = rankOrStage(diagnosis), when = stepsText(diagnosis);
    switch (diagnosis.trouble) {
    case Trouble::SlowCompute:
        return fmt::format("{} computes {:.1f} times as long as its peers {}", who, diagnosis.times, when);
    case Trouble::MoreWork:
        return fmt::format("{} has {:.1f} times its work {}", who, diagnosis.times, when);
    case Trouble::Stall:
        return fmt::format("{} stands still inside kernels {}", who, when);
    case Trouble::Pause:
        return fmt::format("{} pauses between kernels {}", who, when);
    case Trouble::Data:
        return fmt::format("{} waits for its data {}", who, when);
    case Trouble::SlowLink:
        break;
    }
    return diagnosis.ranks.size() == 2
        ? fmt::format("The link between ranks {} and {} is slow {}", diagnosis.ranks[0], diagnosis.ranks[1], when)
        : fmt::format("Exchanges of {} ranks are slow {}", diagnosis.ranks.size(), when);
}

std::string actionOf(const RunAnalysis& run, const Diagnosis& diagnosis)
{
    switch (diagnosis.trouble) {
    case Trouble::SlowCompute:
        return run.gpuTime ? "compare its clocks, temperature and kernels with its peers'"
                           : "compare its core's clock rate, and what else runs on its machine, with its peers'";
    case Trouble::MoreWork:
        return "balance what ranks and stages get: layers, tokens, experts";
    case Trouble::Stall:
        return "look for page faults, swapping and throttling on its machine";
    case Trouble::Pause:
        return "profile what its program does between kernels: garbage collection, logging, locks";
    case Trouble::Data:
        return "more loader workers, prefetching, a local copy of the data";
    case Trouble::SlowLink:
        break;
    }
    return "check the link, its errors and who shares it";
}

std::string certaintyOf(const Diagnosis& diagnosis)
{
    const std::int64_t steps = diagnosis.lastStep - diagnosis.firstStep + 1;
    return steps >= 10 ? "certain" : fmt::format("likely: it shows in {} only", plural(steps, "step"));
}

std::string textOf(const RunAnalysis& run, const Diagnosis& diagnosis, std::int64_t waitNs)
{
    std::string text = fmt::format("costs {} of its own", timeText(diagnosis.excessNs));
    if (diagnosis.trouble == Trouble::SlowLink)
        text = fmt::format(
            "exchanges take {:.1f} times as long as before, {} in all", diagnosis.times, timeText(diagnosis.excessNs));
    if (waitNs > 0)
        text += fmt::format(" · others wait {} for it", timeText(waitNs));
    if (diagnosis.trouble == Trouble::Stall || diagnosis.trouble == Trouble::Pause)
        text += " · it was not ready to run in that time, so no other program took its core";
    return text
        + fmt::format(" · {} of all {}", shareText(run.shareOf(diagnosis.excessNs + waitNs)), run.capacityWord());
}

Finding findingOf(const RunAnalysis& run, const Diagnosis& diagnosis)
{
    std::int64_t waitNs = 0;
    const Lateness* late = nullptr;
    for (const Lateness& candidate : run.late) {
        const bool blamed = diagnosis.trouble != Trouble::SlowLink
            && std::ranges::find(diagnosis.ranks, candidate.rank) != diagnosis.ranks.end();
        waitNs += blamed ? candidate.waitNs : 0;
        late = blamed ? &candidate : late;
    }
    Finding finding;
    finding.title = titleOf(diagnosis);
    finding.text = textOf(run, diagnosis, waitNs);
    finding.ranks = diagnosis.ranks;
    finding.evidence = diagnosis.window;
    finding.action = actionOf(run, diagnosis);
    finding.gain = late ? gainText(run, *late) : std::string();
    finding.certainty = certaintyOf(diagnosis);
    finding.cause = toString(diagnosis.trouble);
    finding.stage = diagnosis.stage;
    finding.costShare = run.shareOf(diagnosis.excessNs + waitNs);
    finding.severity = Severity::Warning;
    return finding;
}

/// What the supervisor says in words, told apart for programs.
Finding failureFinding(const RunAnalysis& run, const AttemptFailure& failure)
{
    Finding finding;
    finding.severity = Severity::Warning;
    finding.ranks = failure.ranks;
    finding.evidence = failure.detectedNs ? Window{ *failure.detectedNs, *failure.detectedNs } : run.window;
    finding.certainty = "certain";
    finding.text = failure.reason;
    if (failure.restoredStep)
        finding.text += fmt::format(" · went on from the state after step {}", *failure.restoredStep);
    const std::string who = failure.ranks.empty() ? "A rank" : "Rank " + std::to_string(failure.ranks.front());
    if (failure.reason.find("not a number") != std::string::npos) {
        finding.cause = "not_a_number";
        finding.title = "The loss or a gradient stopped being a number";
        finding.action = "look at the steps before: loss, gradient norm, learning rate, the batch";
    } else if (failure.reason.find("no progress") != std::string::npos) {
        finding.cause = "rank_hung";
        finding.title = failure.ranks.empty() ? "The ranks hung" : who + " hung: the others waited for it";
        finding.action = "look at its stack, and at which collective it did not join";
    } else {
        finding.cause = "rank_lost";
        finding.title = who + " was lost";
        finding.action = "look at its machine's log: memory, hardware errors";
    }
    return finding;
}

Finding checkpointFinding(const CheckpointTrouble& trouble)
{
    Finding finding;
    finding.severity = Severity::Warning;
    finding.ranks = { trouble.rank };
    finding.evidence = trouble.window;
    finding.certainty = "certain";
    finding.text = trouble.text;
    finding.cause = trouble.isDamage ? "checkpoint_damaged" : "checkpoint_failed";
    finding.title = trouble.isDamage
        ? fmt::format("A checkpoint was damaged (step {}); an older one was used", trouble.step)
        : fmt::format("Rank {} could not write the checkpoint of step {}", trouble.rank, trouble.step);
    finding.action = trouble.isDamage ? "check the storage" : "free or enlarge the storage";
    return finding;
}

} // namespace

Status addDiagnoses(TraceReader& reader, RunAnalysis& run)
{
    if (run.facts.run.source != "rankscope")
        return Done{};
    diagnosis::StepReader measure;
    std::vector<diagnosis::StepMeasures> steps;
    for (;;) {
        auto more = measure.next(reader);
        if (!more)
            return more.error();
        if (more->empty())
            break;
        std::ranges::move(*more, std::back_inserter(steps));
    }
    run.diagnoses = diagnosis::diagnose(steps, stagesOf(run));
    return readCheckpointTroubles(reader, run);
}

std::vector<Finding> diagnosisFindings(const RunAnalysis& run)
{
    std::vector<Finding> result;
    for (const AttemptFailure& failure : run.facts.failures) {
        if (!failure.reason.empty())
            result.push_back(failureFinding(run, failure));
    }
    for (const Diagnosis& diagnosis : run.diagnoses)
        result.push_back(findingOf(run, diagnosis));
    std::set<std::pair<std::int32_t, bool>> told; // each rank's first trouble of a kind says enough
    for (const CheckpointTrouble& trouble : run.checkpointTroubles) {
        if (told.insert({ trouble.rank, trouble.isDamage }).second)
            result.push_back(checkpointFinding(trouble));
    }
    return result;
}

bool isDiagnosed(const RunAnalysis& run, std::int32_t rank)
{
    return std::ranges::any_of(run.diagnoses, [&](const Diagnosis& diagnosis) {
        return diagnosis.trouble != Trouble::SlowLink
            && std::ranges::find(diagnosis.ranks, rank) != diagnosis.ranks.end();
    });
}

} // namespace rankscope::tracing
