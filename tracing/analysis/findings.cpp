#include "tracing/analysis/findings.h"

#include "tracing/analysis/diagnosis_findings.h"
#include "tracing/analysis/run_analysis.h"
#include "tracing/analysis/waste.h"
#include "tracing/analysis/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace rankscope::tracing {

namespace {

constexpr double kWorthSaying = 0.01;
constexpr double kWarning = 0.1;
constexpr double kNetworkIsFine = 0.02;

/// Longest stretch with that label on any rank, or the whole window.
Window evidenceOf(const RunAnalysis& run, SpanClass label)
{
    const Window* longest = nullptr;
    for (const RankAnalysis& rank : run.ranks) {
        const Window& own = rank.longest[static_cast<std::size_t>(label)];
        if (own.durationNs() > 0 && (!longest || own.durationNs() > longest->durationNs()))
            longest = &own;
    }
    return longest ? *longest : run.window;
}

/// Ranks that lose at least the mean in the given part.
template <typename Part> std::vector<std::int32_t> ranksAbove(const RunAnalysis& run, Part part)
{
    std::int64_t sum = 0;
    for (const RankAnalysis& rank : run.ranks)
        sum += part(rank);
    std::vector<std::int32_t> ranks;
    for (const RankAnalysis& rank : run.ranks) {
        if (sum > 0 && part(rank) * std::ssize(run.ranks) >= sum)
            ranks.push_back(rank.info.rank);
    }
    return ranks;
}

std::string rankSeconds(std::int64_t ns)
{
    const std::string text = timeText(ns);
    const auto space = text.find(' ');
    return text.substr(0, space) + " rank-" + (text.substr(space + 1) == "s" ? "seconds" : text.substr(space + 1));
}

std::string ofAll(const RunAnalysis& run, std::int64_t ns)
{
    return fmt::format("{} of {}", rankSeconds(ns), rankSeconds(run.capacityNs()));
}

std::string operationText(const Lateness& late, bool several)
{
    const std::string_view noun = late.op == CollectiveOp::Unknown ? "collective" : toString(late.op);
    const std::string where = late.op == CollectiveOp::Unknown || late.dimension == Dimension::None
        ? std::string()
        : fmt::format(" in {}", toString(late.dimension));
    return fmt::format("{}{}{}", noun, several ? "s" : "", where);
}

std::string titleOf(const Lateness& late)
{
    if (!late.causes.empty() && late.causes.front().cause == "before the recording" && late.delayNs > 0)
        return fmt::format(
            "Rank {} enters the step {} after rank {}", late.rank, timeText(late.delayNs), late.firstRank);
    if (late.lateCount == 0)
        return fmt::format("Others wait for rank {}", late.rank);
    if (late.lateCount == late.count)
        return fmt::format("Rank {} is late to every {}", late.rank, operationText(late, false));
    return fmt::format("Rank {} is late to {} of {} {}", late.rank, countText(late.lateCount), countText(late.count),
        operationText(late, late.count != 1));
}

/// Other causes than the main one that are worth a word.
std::string otherCauses(const RunAnalysis& run, const Lateness& late)
{
    std::string text;
    for (std::size_t i = 1; i < late.causes.size(); ++i) {
        if (run.shareOf(late.causes[i].ns) >= kWorthSaying)
            text += fmt::format("{}{} {}", text.empty() ? "also " : ", ", shareText(run.shareOf(late.causes[i].ns)),
                late.causes[i].cause);
    }
    return text;
}

std::string actionFor(const RunAnalysis& run, const Lateness& late)
{
    const std::string cause = late.causes.empty() ? std::string() : late.causes.front().cause;
    if (cause == "host")
        return late.hostRange.empty() ? fmt::format("profile what rank {}'s host does there", late.rank)
                                      : fmt::format("look at what rank {} does in {}", late.rank, late.hostRange);
    if (cause == "compute_amount")
        return "balance what the ranks get: tokens, sequence lengths, experts";
    if (cause == "compute" || cause == "compute_speed")
        return run.gpuTime ? fmt::format("compare rank {} with its peers: clocks, temperature, kernels", late.rank)
                           : fmt::format("see what else runs on rank {}'s machine", late.rank);
    if (cause == "data")
        return "more loader workers, prefetching, a local copy of the data";
    if (cause == "checkpoint")
        return "write checkpoints in the background";
    if (cause == "network")
        return fmt::format("check rank {}'s link", late.rank);
    if (cause == "before the recording")
        return "record from one step earlier";
    if (cause == "descheduled")
        return "give each rank cores of its own";
    return {};
}

/// Whether the clocks' error could take the waits away, or give them to another rank.
std::string certaintyOf(const Lateness& late)
{
    if (10 * late.waitLowNs >= 9 * late.waitNs)
        return "certain";
    const std::string least = late.waitNs > 0
        ? shareText(static_cast<double>(late.waitLowNs) / static_cast<double>(late.waitNs))
        : std::string("nothing");
    return fmt::format("at least {} of it, whatever the clocks' error", least);
}

Finding lateRank(const RunAnalysis& run, const Waste& waste)
{
    const Lateness& late = *waste.late;
    Finding finding;
    finding.title = titleOf(late);
    finding.text = fmt::format(
        "{} {} {}", ranksText(late.waiting), late.waiting.size() == 1 ? "waits" : "wait", ofAll(run, late.waitNs));
    if (late.count > 0)
        finding.text += fmt::format(" · last in {} of {}", countText(late.lateCount), plural(late.count, "collective"));
    if (const std::string why = causeText(run, late); !why.empty())
        finding.text += " · " + why;
    if (const std::string others = otherCauses(run, late); !others.empty())
        finding.text += " · " + others;
    finding.ranks = { late.rank };
    finding.evidence = late.evidence.durationNs() > 0 ? late.evidence : evidenceOf(run, SpanClass::Wait);
    finding.action = actionFor(run, late);
    finding.gain = gainText(run, late);
    finding.certainty = certaintyOf(late);
    return finding;
}

int pipelineStages(const RunAnalysis& run)
{
    int stages = 0;
    for (const RankAnalysis& rank : run.ranks)
        stages = std::max(stages, rank.info.stage.value_or(0) + 1);
    return stages;
}

int provenanceNumber(const RunAnalysis& run, const char* key)
{
    const auto found = run.facts.provenance.find(key);
    int number = 0;
    if (found != run.facts.provenance.end())
        std::from_chars(found->second.data(), found->second.data() + found->second.size(), number);
    return number;
}

/// What a balanced pipeline costs by its schedule alone: (p-1)/(m+p-1) of the step with 1F1B and GPipe, less with
/// chunks and with weight gradients in the drain (METRICS 4.4, where a backward is two forwards and its weights one).
std::string scheduleText(const RunAnalysis& run)
{
    const int microBatches = provenanceNumber(run, "config.batch.micro_batches");
    const int stages = pipelineStages(run);
    if (microBatches <= 0 || stages < 2)
        return {};
    const auto found = run.facts.provenance.find("config.parallel.schedule");
    const std::string schedule = found == run.facts.provenance.end() ? "" : found->second;
    double idle = stages - 1; // in passes of a micro-batch, forward and backward
    if (schedule == "\"interleaved\"")
        idle /= std::max(1, provenanceNumber(run, "config.parallel.chunks"));
    else if (schedule == "\"zb-h1\"")
        idle /= 3; // F + B - 2 W of F + B
    return fmt::format(" · {} stages and {} micro-batches cost {} of a balanced step by themselves", stages,
        microBatches, shareText(idle / (microBatches + idle)));
}

Finding bubbles(const RunAnalysis& run, const Waste& waste)
{
    Finding finding;
    finding.title = "Ranks idle in the pipeline's bubbles";
    finding.text = fmt::format("{}", ofAll(run, waste.ns));
    for (int phase = 0; phase < kBubblePhaseCount; ++phase) {
        finding.text += fmt::format("{} {} {}", phase ? "," : " ·", toString(static_cast<BubblePhase>(phase)),
            shareText(run.shareOf(run.total.bubbleByPhaseNs[static_cast<std::size_t>(phase)])));
    }
    finding.text += scheduleText(run);
    finding.ranks = ranksAbove(run, [](const RankAnalysis& rank) { return rank.split.bubbleNs(); });
    finding.evidence = evidenceOf(run, SpanClass::Bubble);
    return finding;
}

Finding transfer(const RunAnalysis& run, const Waste& waste)
{
    std::size_t worst = 0;
    for (std::size_t i = 1; i < run.total.transferByDimensionNs.size(); ++i) {
        if (run.total.transferByDimensionNs[i] > run.total.transferByDimensionNs[worst])
            worst = i;
    }
    Finding finding;
    finding.title = "Transfers are not hidden under compute";
    finding.text = ofAll(run, waste.ns);
    if (const auto dimension = static_cast<Dimension>(worst); dimension != Dimension::None) {
        finding.text += fmt::format(", most of it in {} ({})", toString(dimension),
            shareText(run.shareOf(run.total.transferByDimensionNs[worst])));
    }
    std::int64_t communicationNs = 0;
    for (const RankAnalysis& rank : run.ranks)
        communicationNs += rank.overlap.communicationNs;
    if (communicationNs > 0) {
        finding.text += fmt::format(" · {} of communication is hidden",
            shareText(static_cast<double>(run.total.hiddenNs) / static_cast<double>(communicationNs)));
    }
    finding.ranks = ranksAbove(run, [](const RankAnalysis& rank) { return rank.split.transferNs; });
    finding.evidence = evidenceOf(run, SpanClass::Transfer);
    return finding;
}

/// Findings that need no more than a title, the sum, and who has most of it; `part` takes of a TimeSplit what the waste
/// counts.
template <typename Part>
Finding plain(
    const RunAnalysis& run, const Waste& waste, std::string title, SpanClass label, Part part, std::string action)
{
    Finding finding;
    finding.title = std::move(title);
    finding.ranks = ranksAbove(run, [&](const RankAnalysis& rank) { return std::invoke(part, rank.split); });
    finding.text = ofAll(run, waste.ns);
    // Who has more than the others is no news where most have.
    if (!finding.ranks.empty() && 2 * finding.ranks.size() <= run.ranks.size())
        finding.text += fmt::format(" · most on {}", ranksText(finding.ranks));
    finding.evidence = evidenceOf(run, label);
    finding.action = std::move(action);
    return finding;
}

Finding hostLate(const RunAnalysis& run, const Waste& waste)
{
    if (!run.gpuTime)
        return plain(run, waste, "Ranks run no kernel between others", SpanClass::Host, &TimeSplit::hostNs,
            "profile the program's own code between kernels");
    // What a late rank's host costs stands with that rank.
    const auto hostNs = [&](const RankAnalysis& rank) {
        const auto late = std::ranges::find(run.late, rank.info.rank, &Lateness::rank);
        const bool counted = late != run.late.end() && late->ownNs > 0 && late->causes.front().cause == "host";
        return counted ? 0 : rank.split.hostNs;
    };
    const bool all = std::ranges::all_of(
        run.ranks, [&](const RankAnalysis& rank) { return 4 * hostNs(rank) >= waste.ns / std::ssize(run.ranks); });
    const auto worst = ranksAbove(run, hostNs);
    Finding finding;
    finding.title = all && run.ranks.size() > 1 ? std::string("Hosts launch too late on all ranks")
                                                : fmt::format("Hosts launch too late on {}", ranksText(worst));
    finding.text = ofAll(run, waste.ns);
    finding.ranks = worst;
    finding.evidence = evidenceOf(run, SpanClass::Host);
    finding.action = "larger batches, CUDA graphs, fewer and larger kernels";
    std::int64_t kernels = 0, ns = 0;
    for (const KernelRow& row : run.kernels) {
        kernels += row.count;
        ns += row.totalNs;
    }
    if (kernels > 0)
        finding.text += fmt::format(" · {} a rank, {} on average",
            plural(kernels / std::ssize(run.ranks), "compute kernel"), timeText(ns / kernels));
    return finding;
}

Finding findingOf(const RunAnalysis& run, const Waste& waste)
{
    switch (waste.kind) {
    case Waste::Kind::LateRank:
        return lateRank(run, waste);
    case Waste::Kind::Bubble:
        return bubbles(run, waste);
    case Waste::Kind::Transfer:
        return transfer(run, waste);
    case Waste::Kind::Host:
        return hostLate(run, waste);
    case Waste::Kind::Wait:
        return plain(
            run, waste, "Ranks wait for others, and nobody can be named", SpanClass::Wait, &TimeSplit::awaitingNs, "");
    case Waste::Kind::Unsplit:
        return plain(run, waste, "Who was late cannot be told: partners are missing", SpanClass::Communication,
            &TimeSplit::unsplitNs, "open the traces of all ranks together");
    case Waste::Kind::Copy:
        return plain(run, waste, "Copies run while nothing computes", SpanClass::Copy, &TimeSplit::copyNs,
            "pinned memory, copies on a stream of their own");
    case Waste::Kind::Data:
        return plain(run, waste, "Ranks wait for data", SpanClass::Data, &TimeSplit::dataNs,
            "more loader workers, prefetching, a local copy of the data");
    case Waste::Kind::Checkpoint:
        return plain(run, waste, "Ranks stop to write checkpoints", SpanClass::Checkpoint, &TimeSplit::checkpointNs,
            "write checkpoints in the background, or less often");
    case Waste::Kind::Descheduled:
        return plain(run, waste, "Kernels run without a core: something else uses the machine", SpanClass::Compute,
            &TimeSplit::descheduledNs, "fewer threads than cores");
    case Waste::Kind::Gaps:
        return plain(run, waste, "Launches and short gaps between kernels add up", SpanClass::Launch, &TimeSplit::gapNs,
            "CUDA graphs, fewer and larger kernels");
    case Waste::Kind::Lost:
        return plain(
            run, waste, "Work was thrown away and restarted", SpanClass::Lost,
            [](const TimeSplit& split) { return split.lostNs + split.downNs; }, "checkpoints at shorter intervals");
    case Waste::Kind::Idle:
        break;
    }
    return plain(run, waste, "Time that no recorded event explains", SpanClass::Unattributed,
        &TimeSplit::unattributedNs, "record more: host calls, copies, data loading");
}

/// A finding without a cost: about the recording, or about what is fine.
Finding note(const RunAnalysis& run, Severity severity, std::string title, std::string text)
{
    Finding finding;
    finding.severity = severity;
    finding.title = std::move(title);
    finding.text = std::move(text);
    finding.evidence = run.window;
    return finding;
}

void addMatching(std::vector<Finding>& result, const RunAnalysis& run)
{
    const auto how = run.facts.provenance.find("collectives.matching");
    if (how != run.facts.provenance.end())
        result.push_back(note(run, Severity::Info, "Collectives were matched by their order", how->second));
}

/// "ring full: 1,204, rank 0", "unterminated file: trace.json"
std::string lossText(const Loss& loss)
{
    const std::string count = loss.count != 1 || loss.detail.empty() ? countText(loss.count) : std::string();
    const char* space = count.empty() || loss.detail.empty() ? "" : ", ";
    return fmt::format("{}: {}{}{}", loss.kind, count, space, loss.detail);
}

void addLosses(std::vector<Finding>& result, const RunAnalysis& run)
{
    std::string text;
    for (const Loss& loss : run.facts.losses) {
        if (loss.count == 0)
            continue;
        // A rank's death is the finding; the rest is about the recording.
        if (loss.kind == "rank died")
            result.push_back(note(run, Severity::Warning, "A rank died", loss.detail));
        else
            text += (text.empty() ? "" : " · ") + lossText(loss);
    }
    if (!text.empty())
        result.push_back(note(run, Severity::Warning, "The recording is not complete", text));
}

void addSharedCores(std::vector<Finding>& result, const RunAnalysis& run)
{
    const auto cores = run.sharedCores();
    if (!cores)
        return;
    const double share = static_cast<double>(run.total.descheduledNs) / static_cast<double>(run.total.windowNs);
    result.push_back(note(run, Severity::Notice,
        fmt::format("{} share {}", plural(std::ssize(run.ranks), "rank"), plural(*cores, "core")),
        fmt::format("kernels have no core for {} of all {}; it stands outside the other shares", shareText(share),
            run.capacityWord())));
}

void addWhatIsFine(std::vector<Finding>& result, const RunAnalysis& run)
{
    const auto fine = [&](const char* title, const char* text, std::int64_t ns) {
        result.push_back(note(run, Severity::Info, title,
            fmt::format(fmt::runtime(text), shareText(run.shareOf(ns)), run.capacityWord())));
    };
    const bool communicates = std::any_of(
        run.ranks.begin(), run.ranks.end(), [](const RankAnalysis& rank) { return rank.overlap.communicationNs > 0; });
    // Where partners are missing, nothing may be said about the network or about who is late.
    if (communicates && run.total.unsplitNs == 0) {
        if (run.shareOf(run.total.transferNs) < kNetworkIsFine)
            fine("The network is not the problem", "transfer is {} of {}", run.total.transferNs);
        if (run.ranks.size() > 1 && run.shareOf(run.total.awaitingNs()) < kWorthSaying)
            fine("No rank is late", "waiting for others is {} of {}", run.total.awaitingNs());
    }
    if (run.total.dataNs > 0 && run.shareOf(run.total.dataNs) < kWorthSaying)
        fine("Data loading is not the problem", "it takes {} of {}", run.total.dataNs);
}

} // namespace

std::string_view toString(Severity severity)
{
    switch (severity) {
    case Severity::Info:
        return "info";
    case Severity::Notice:
        return "notice";
    case Severity::Warning:
        break;
    }
    return "warning";
}

std::vector<Finding> findings(const RunAnalysis& run)
{
    std::vector<Finding> result;
    addLosses(result, run);
    for (Finding& finding : diagnosisFindings(run))
        result.push_back(std::move(finding));
    bool hasCost = !run.diagnoses.empty();
    for (const Waste& waste : wastesOf(run)) {
        const double share = run.shareOf(waste.ns);
        if (waste.kind == Waste::Kind::LateRank && isDiagnosed(run, waste.late->rank))
            continue; // said above, with its cause
        if (share < kWorthSaying || (waste.kind == Waste::Kind::Transfer && share < kNetworkIsFine))
            continue;
        Finding finding = findingOf(run, waste);
        finding.severity = share >= kWarning ? Severity::Warning : Severity::Notice;
        finding.costShare = share;
        if (finding.certainty.empty())
            finding.certainty = "certain";
        result.push_back(std::move(finding));
        hasCost = true;
    }
    if (!hasCost) {
        const std::string title = run.total.windowNs == 0
            ? std::string("No finding: nothing was recorded.")
            : fmt::format("No finding: nothing costs more than 1 % of {}.", run.capacityWord());
        result.push_back(note(run, Severity::Info, title, {}));
    }
    addSharedCores(result, run);
    addWhatIsFine(result, run);
    addMatching(result, run);
    return result;
}

} // namespace rankscope::tracing
