#include "tracing/analysis/headline.h"

#include "tracing/analysis/run_analysis.h"
#include "tracing/analysis/waste.h"
#include "tracing/analysis/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace rankscope::tracing {

namespace {

std::string capitalised(std::string text)
{
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

/// As it stands after "x % of rank time is ...".
std::string predicate(const RunAnalysis& run, const Waste& waste)
{
    switch (waste.kind) {
    case Waste::Kind::LateRank:
        return fmt::format("spent waiting for rank {}", waste.late->rank);
    case Waste::Kind::Host:
        return run.gpuTime ? "lost to hosts that launch too late" : "spent between kernels";
    case Waste::Kind::Lost:
        return "lost to a restart";
    case Waste::Kind::Wait:
        return "spent waiting for other ranks";
    case Waste::Kind::Bubble:
        return "pipeline bubble";
    case Waste::Kind::Transfer:
        return "transfer that no compute hides";
    case Waste::Kind::Unsplit:
        return "communication whose partners are not known";
    case Waste::Kind::Copy:
        return "copying";
    case Waste::Kind::Data:
        return "spent waiting for data";
    case Waste::Kind::Checkpoint:
        return "spent writing checkpoints";
    case Waste::Kind::Descheduled:
        return "kernels without a core";
    case Waste::Kind::Gaps:
        return "launches and gaps between kernels";
    case Waste::Kind::Idle:
        break;
    }
    return "time that no recorded event explains";
}

std::string sentence(const RunAnalysis& run, const std::vector<Waste>& wastes)
{
    const std::string_view word = run.capacityWord();
    const std::int64_t lostNs = std::accumulate(
        wastes.begin(), wastes.end(), std::int64_t{ 0 }, [](std::int64_t sum, const Waste& w) { return sum + w.ns; });
    if (run.total.computeNs == 0)
        return {};
    if (wastes.empty() || run.shareOf(wastes.front().ns) < 0.01)
        return fmt::format("Nothing costs more than 1 % of {}: {} of it is compute.", word,
            shareText(run.shareOf(run.total.computeNs)));
    const Waste& top = wastes.front();
    // Of a late rank's cost the waits are what the sentence is about; its own idle time follows in the next.
    const std::int64_t saidNs = top.kind == Waste::Kind::LateRank ? top.late->waitNs : top.ns;
    if (wastes.size() == 1 || 10 * top.ns >= 6 * lostNs)
        return fmt::format("{} of {} is {}.", shareText(run.shareOf(saidNs)), word, predicate(run, top));
    return fmt::format("{} of {} is lost; {}, {}, is {}.", shareText(run.shareOf(lostNs)), word,
        2 * saidNs > lostNs ? "most of it" : "the largest part", shareText(run.shareOf(saidNs)), predicate(run, top));
}

/// The stage, or else the rank, whose bubbles are longest.
std::string longestBubble(const RunAnalysis& run)
{
    const auto longest = std::max_element(run.ranks.begin(), run.ranks.end(),
        [](const RankAnalysis& a, const RankAnalysis& b) { return a.split.bubbleNs() < b.split.bubbleNs(); });
    const double share = static_cast<double>(longest->split.bubbleNs()) / static_cast<double>(longest->split.windowNs);
    const std::string who = longest->info.stage
        ? fmt::format("Stage {} (rank {})", *longest->info.stage, longest->info.rank)
        : fmt::format("Rank {}", longest->info.rank);
    return fmt::format("{} idles most, {} of its time.", who, shareText(share));
}

std::string largestTransfer(const RunAnalysis& run)
{
    const auto& parts = run.total.transferByDimensionNs;
    const auto largest = std::max_element(parts.begin(), parts.end());
    return fmt::format("{} of it is in {}.",
        shareText(static_cast<double>(*largest) / static_cast<double>(run.total.transferNs)),
        toString(static_cast<Dimension>(largest - parts.begin())));
}

/// Where something else costs most: the rank that is waited for, if that is much.
std::string alsoLate(const RunAnalysis& run)
{
    constexpr double kMuch = 0.1;
    if (run.late.empty() || run.shareOf(run.late.front().waitNs) < kMuch)
        return {};
    const Lateness& late = run.late.front();
    const std::string why = causeText(run, late);
    return fmt::format("{} is spent waiting for rank {}{}{}.", shareText(run.shareOf(late.waitNs)), late.rank,
        why.empty() ? "" : ": ", why);
}

std::string cause(const RunAnalysis& run, const Waste& top)
{
    if (run.shareOf(top.ns) < 0.01)
        return {};
    if (top.kind == Waste::Kind::LateRank) {
        const std::string why = causeText(run, *top.late);
        std::string text = why.empty() ? std::string() : capitalised(why) + ".";
        if (top.ns > top.late->waitNs)
            text += fmt::format("{}{} in all.", text.empty() ? "" : " ", shareText(run.shareOf(top.ns)));
        return text;
    }
    if (top.kind == Waste::Kind::Bubble)
        return longestBubble(run);
    if (top.kind == Waste::Kind::Transfer)
        return largestTransfer(run);
    return alsoLate(run);
}

void setBigNumber(Headline& headline, const RunAnalysis& run)
{
    const std::optional<int> cores = run.sharedCores();
    const std::string whole
        = cores ? fmt::format("of what {} can do", plural(*cores, "core")) : std::string("of theoretical compute");
    if (run.usefulFlops && run.capacityFlops) {
        headline.bigShare = *run.usefulFlops / *run.capacityFlops;
        headline.bigCaption = "useful, " + whole;
    } else {
        headline.bigShare = run.shareOf(run.total.computeNs);
        headline.bigCaption = fmt::format("compute, share of {}", run.capacityWord());
        headline.bigHint = run.usefulFlops ? "The peak is not in this trace" : "FLOPs are not in this trace";
    }
    if (cores)
        headline.bigHint = fmt::format("{} share {}", plural(std::ssize(run.ranks), "rank"), plural(*cores, "core"));
}

} // namespace

Headline headline(const RunAnalysis& run)
{
    Headline result;
    if (run.ranks.empty() || run.capacityNs() <= 0)
        return result;
    setBigNumber(result, run);
    const std::vector<Waste> wastes = wastesOf(run);
    result.sentence = sentence(run, wastes);
    if (!result.sentence.empty() && !wastes.empty())
        result.cause = cause(run, wastes.front());
    if (!result.sentence.empty() && !wastes.empty() && wastes.front().late) {
        const std::string gain = gainText(run, *wastes.front().late);
        result.gain = gain.empty() ? std::string() : "Without it " + gain + ".";
    }
    return result;
}

} // namespace rankscope::tracing
