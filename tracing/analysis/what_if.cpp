#include "tracing/analysis/what_if.h"

#include "tracing/analysis/faster_links.h"
#include "tracing/analysis/lateness.h"
#include "tracing/analysis/perfect_overlap.h"
#include "tracing/analysis/scenario/pipeline_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace rankscope::tracing {

namespace {

using ledger::Label;
using ledger::Ratio;
using ledger::ReplayChange;

constexpr std::int64_t kForEver = INT64_MAX / 4;
constexpr std::array kGapWords{ "host", "launch", "data", "checkpoint", "kernel_gap", "unattributed" };

/// A factor as a ratio of integers, to a ten thousandth: products with times must stay in 64 bits.
std::optional<Ratio> factorOf(std::string_view text)
{
    constexpr std::int64_t kParts = 10'000;
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > 1000)
        return std::nullopt;
    return Ratio{ std::llround(value * static_cast<double>(kParts)), kParts };
}

Error notUnderstood(const std::string& change)
{
    return Error(fmt::format(
        "change {}: not understood; rankscope what-if --help lists what can be changed, such as fix=2", change));
}

Ratio product(Ratio a, Ratio b) { return { a.numerator * b.numerator, a.denominator * b.denominator }; }

/// "what[.dimension][@rank]=value"
struct Wish {
    std::string what;
    std::optional<Dimension> dimension{};
    std::optional<std::int32_t> rank{};
    std::string value;
};

Result<Wish> parsed(const std::string& text)
{
    const auto wrong = [&] { return notUnderstood(text); };
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        return wrong();
    Wish wish;
    wish.what = text.substr(0, equals);
    wish.value = text.substr(equals + 1);
    if (const std::size_t at = wish.what.find('@'); at != std::string::npos) {
        std::int32_t rank = 0;
        const std::string number = wish.what.substr(at + 1);
        const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), rank);
        if (code != std::errc() || end != number.data() + number.size())
            return wrong();
        wish.rank = rank;
        wish.what.resize(at);
    }
    if (const std::size_t dot = wish.what.find('.'); dot != std::string::npos) {
        wish.dimension = parseDimension(wish.what.substr(dot + 1));
        if (!wish.dimension)
            return wrong();
        wish.what.resize(dot);
    }
    return wish;
}

std::string_view nameOf(const LedgerRun& run, const RunFacts& facts, std::size_t rank, std::size_t kernel)
{
    const auto signature = static_cast<std::size_t>(raw(run.source.signatures[rank][kernel]));
    const auto name = signature < facts.signatures.size()
        ? static_cast<std::size_t>(raw(facts.signatures[signature].name))
        : facts.names.size();
    return name < facts.names.size() ? std::string_view(facts.names[name]) : std::string_view();
}

class Changes {
public:
    Changes(const LedgerRun& run, const RunFacts& facts, const Remedies& remedies, const std::vector<Window>& counted)
        : run_(run)
        , facts_(facts)
        , remedies_(remedies)
        , counted_(counted)
    {
    }

    Status add(const std::string& text)
    {
        const auto wish = parsed(text);
        if (!wish)
            return wish.error();
        if (wish->rank && !hasRank(*wish->rank))
            return Error(fmt::format("change {}: the run has no rank {}", text, *wish->rank));
        if (wish->what == "fix")
            return fix(*wish, text);
        if (wish->what == "overlap" && wish->value == "perfect") {
            overlaps_ = true;
            return scaleTransfer(Wish{ "transfer", {}, {}, "0" }, { 0, 1 });
        }
        if (wish->what == "cores" && wish->value == "enough") {
            for (ReplayChange& variant : variants_)
                variant.onCpu = true;
            return Done{};
        }
        if (wish->what == "balance" && wish->value == "stages")
            return balanceStages(text);
        if (wish->what == "balance" && wish->value == "experts")
            return balanceExperts(text);
        const auto factor = factorOf(wish->value);
        const bool understood = factor && (!wish->dimension || wish->what == "transfer" || wish->what == "link");
        if (understood && wish->what == "compute")
            return scaleCompute(*wish, *factor);
        if (understood && wish->what == "recompute" && !wish->rank) {
            for (ReplayChange& variant : variants_)
                variant.recomputed = *factor;
            return Done{};
        }
        if (understood && wish->what == "transfer")
            return scaleTransfer(*wish, *factor);
        if (understood && wish->what == "link" && factor->numerator > 0)
            return scaleLinks(*wish, { factor->denominator, factor->numerator });
        if (understood && std::ranges::find(kGapWords, wish->what) != kGapWords.end())
            return scaleGaps(*wish, *factor);
        return notUnderstood(text);
    }

    Prediction predict() const
    {
        Prediction prediction = remedies_.of(variants_[1]);
        const std::int64_t first = remedies_.of(variants_[0]).predictedNs,
                           last = remedies_.of(variants_[2]).predictedNs;
        prediction.predictedNs = std::max(prediction.predictedNs, leastNs());
        prediction.lowNs = std::max(leastNs(), std::min({ first, last, prediction.predictedNs }));
        prediction.highNs = std::max({ first, last, prediction.predictedNs });
        return prediction;
    }

private:
    bool hasRank(std::int32_t rank) const
    {
        return std::ranges::find(run_.result.ranks, rank, &ledger::RankLedger::rank) != run_.result.ranks.end();
    }

    std::int64_t leastNs() const { return overlaps_ ? leastOverlappedNs(run_.source.input, run_.result, counted_) : 0; }

    Status fix(const Wish& wish, const std::string& text)
    {
        std::int32_t rank = 0;
        const auto [end, code] = std::from_chars(wish.value.data(), wish.value.data() + wish.value.size(), rank);
        if (code != std::errc() || end != wish.value.data() + wish.value.size() || !hasRank(rank))
            return Error(fmt::format("change {}: the run has no such rank", text));
        const auto like = remedies_.likePeers(rank);
        if (!like)
            return Error(fmt::format("change {}: rank {} has no peers to be like", text, rank));
        for (std::size_t i = 0; i < variants_.size(); ++i) {
            for (const auto& [key, stretches] : (*like)[i].gapTimes)
                variants_[i].gapTimes[key] = stretches;
            for (const auto& [key, ratios] : (*like)[i].kernelTimes)
                variants_[i].kernelTimes[key] = ratios;
        }
        return Done{};
    }

    /// Each key's time becomes the mean of all keys'.
    static std::map<std::int32_t, Ratio> evened(const std::map<std::int32_t, std::int64_t>& timeOf)
    {
        std::int64_t sum = 0;
        for (const auto& [key, ns] : timeOf)
            sum += ns;
        std::map<std::int32_t, Ratio> ratios;
        for (const auto& [key, ns] : timeOf)
            ratios[key] = { sum / std::ssize(timeOf), std::max<std::int64_t>(1, ns) };
        return ratios;
    }

    Status balanceStages(const std::string& text)
    {
        std::map<std::int32_t, std::int64_t> times;
        for (std::size_t r = 0; r < run_.source.input.ranks.size(); ++r) {
            if (const auto stage = run_.source.input.ranks[r].stage)
                times[*stage] += remedies_.timeOf(r, Label::Compute);
        }
        if (times.size() < 2)
            return Error(fmt::format("change {}: the run has no stages", text));
        const auto ratios = evened(times);
        for (ReplayChange& variant : variants_) {
            for (const ledger::RankInput& rank : run_.source.input.ranks) {
                if (rank.stage)
                    variant.computeTimes[rank.rank] = product(variant.computeTimes[rank.rank], ratios.at(*rank.stage));
            }
        }
        return Done{};
    }

    Status balanceExperts(const std::string& text)
    {
        std::map<std::int32_t, std::int64_t> times;
        std::map<std::int32_t, std::vector<bool>> chosen;
        for (std::size_t r = 0; r < run_.source.input.ranks.size(); ++r) {
            const std::int32_t rank = run_.source.input.ranks[r].rank;
            const auto kernels = run_.source.kernelsOf(r);
            for (std::size_t i = 0; i < kernels.size(); ++i) {
                chosen[rank].push_back(kernels[i].work && nameHas(r, i, "expert"));
                times[rank] += chosen[rank].back() ? kernels[i].end - kernels[i].begin : 0;
            }
        }
        if (std::ranges::all_of(times, [](const auto& entry) { return entry.second == 0; }))
            return Error(fmt::format("change {}: the run has no kernels of experts with their tokens", text));
        for (const auto& [rank, ratio] : evened(times)) {
            for (ReplayChange& variant : variants_)
                variant.chosenKernels[rank] = { chosen[rank], ratio };
        }
        return Done{};
    }

    bool nameHas(std::size_t rank, std::size_t kernel, std::string_view word) const
    {
        return nameOf(run_, facts_, rank, kernel).find(word) != std::string_view::npos;
    }

    template <typename Visitor> void forRanks(const Wish& wish, Visitor visitor)
    {
        for (ReplayChange& variant : variants_) {
            for (const ledger::RankLedger& rank : run_.result.ranks) {
                if (!wish.rank || *wish.rank == rank.rank)
                    visitor(variant, rank.rank);
            }
        }
    }

    Status scaleCompute(const Wish& wish, Ratio ratio)
    {
        forRanks(wish, [&](ReplayChange& variant, std::int32_t rank) {
            Ratio& own = variant.computeTimes[rank];
            own = product(own, ratio);
        });
        return Done{};
    }

    Status scaleTransfer(const Wish& wish, Ratio ratio)
    {
        if (!wish.dimension) {
            forRanks(wish, [&](ReplayChange& variant, std::int32_t rank) { variant.transferOfRank[rank] = ratio; });
            return Done{};
        }
        if (wish.rank)
            return Error(fmt::format("change {}: a dimension or a rank, not both", wish.what));
        for (ReplayChange& variant : variants_)
            variant.transferOfDimension[*wish.dimension] = ratio;
        return Done{};
    }

    Status scaleLinks(const Wish& wish, Ratio kept)
    {
        if (wish.rank)
            return scaleTransfer(wish, kept);
        auto ratios = transfersOverFasterLinks(run_.source.input, facts_.links, wish.dimension, kept);
        for (ReplayChange& variant : variants_) {
            for (std::size_t i = 0; i < variant.transferOfInstance.size(); ++i)
                ratios[i] = product(ratios[i], variant.transferOfInstance[i]);
            variant.transferOfInstance = ratios;
        }
        return Done{};
    }

    Status scaleGaps(const Wish& wish, Ratio ratio)
    {
        const Label label = *labelOfCause(wish.what);
        forRanks(wish, [&](ReplayChange& variant, std::int32_t rank) {
            auto& stretches = variant.gapTimes[{ rank, label }];
            if (stretches.empty())
                stretches.push_back({ -kForEver, kForEver, Ratio{} });
            for (ledger::StretchRatio& stretch : stretches)
                stretch.ratio = product(stretch.ratio, ratio);
        });
        return Done{};
    }

    const LedgerRun& run_;
    const RunFacts& facts_;
    const Remedies& remedies_;
    const std::vector<Window>& counted_;
    std::array<ReplayChange, 3> variants_; ///< as the fastest, the median and the slowest peer
    bool overlaps_ = false;
};

/// Twice the standard error of the mean step, as a share of it; 0 for fewer than two steps.
double noiseOf(const std::vector<StepSpan>& steps)
{
    if (steps.size() < 2)
        return 0;
    double sum = 0, squares = 0;
    for (const StepSpan& step : steps)
        sum += static_cast<double>(step.window.durationNs());
    const double mean = sum / static_cast<double>(steps.size());
    for (const StepSpan& step : steps)
        squares += std::pow(static_cast<double>(step.window.durationNs()) - mean, 2);
    const double deviation = std::sqrt(squares / static_cast<double>(steps.size() - 1));
    return mean > 0 ? 2 * deviation / std::sqrt(static_cast<double>(steps.size())) / mean : 0;
}

/// "micro_batches=8", "schedule=gpipe": the pipeline is played anew.
bool isPlan(const std::string& change)
{
    return change.starts_with("micro_batches=") || change.starts_with("schedule=");
}

/// The run's schedule with the changes.
Result<Schedule> plannedSchedule(const LedgerRun& run, std::span<const std::string> changes)
{
    if (!run.source.input.pipeline)
        return Error(fmt::format("change {}: the run declares no pipeline", changes.front()));
    const Schedule& recorded = *run.source.input.pipeline;
    std::string name = recorded.name;
    int microBatches = recorded.microBatches;
    for (const std::string& change : changes) {
        const std::string value = change.substr(change.find('=') + 1);
        if (change.starts_with("schedule=")) {
            name = value;
            continue;
        }
        const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), microBatches);
        if (code != std::errc() || end != value.data() + value.size() || microBatches < 1 || microBatches > 65535)
            return Error(fmt::format("change {}: allowed is a whole number, 1 to 65535", change));
    }
    // Two chunks are what the engine takes where nothing is said.
    const int chunks = recorded.chunks > 1 ? recorded.chunks : 2;
    if (auto schedule = scheduleByName(name, recorded.stages, microBatches, chunks))
        return std::move(*schedule);
    return Error(fmt::format("change {}: no such schedule of {} stages and {} micro-batches; there are {}",
        changes.front(), recorded.stages, microBatches, fmt::join(scheduleNames(), ", ")));
}

/// The recorded step, and what the change makes of a step that is played from the mean times of passes and messages.
Result<Prediction> playedAnew(const LedgerRun& run, const RunFacts& facts, std::span<const std::string> changes)
{
    const auto schedule = plannedSchedule(run, changes);
    if (!schedule)
        return schedule.error();
    const std::vector<StepSpan> all = tiledSteps(facts.steps);
    std::vector<Window> steps;
    for (const StepSpan& step : run.summary.counted ? stepsIn(all, *run.summary.counted) : std::vector<StepSpan>())
        steps.push_back(step.window);
    const auto times
        = scenario::pipelineTimes(run.source.input, run.result, steps, [&](std::size_t rank, std::size_t kernel) {
              const ledger::ComputeOp& op = run.source.input.ranks[rank].compute[kernel];
              return op.pass == Pass::Weight
                  || (kernel < run.source.signatures[rank].size()
                      && nameOf(run, facts, rank, kernel).find("weight gradient") != std::string_view::npos);
          });
    if (!times)
        return times.error();
    const double before = scenario::playedStepNs(*times, *run.source.input.pipeline);
    const double after = scenario::playedStepNs(*times, *schedule);
    Prediction prediction;
    const auto count = static_cast<double>(steps.size());
    prediction.baselineNs = std::llround(count * times->recordedNs);
    // What playing the recorded schedule leaves unexplained stays: as a share, and as a time.
    const double asShare = times->recordedNs * after / before, asTime = times->recordedNs + after - before;
    prediction.lowNs = std::llround(count * std::max(0.0, std::min(asShare, asTime)));
    prediction.highNs = std::llround(count * std::max(asShare, asTime));
    prediction.predictedNs = (prediction.lowNs + prediction.highNs) / 2;
    return prediction;
}

} // namespace

std::string whatIfHelp()
{
    return "  fix=2                 rank 2 is like the median of its peers\n"
           "  compute=0.5           kernels take half the time; compute@2=0.5: those of rank 2\n"
           "  host=0 launch=0 data=0 checkpoint=0 kernel_gap=0 unattributed=0   gaps of that kind are gone; "
           "host@2=0.5\n"
           "  transfer=0.5          transfers take half the time; transfer.dp=0.5, transfer@2=0.5\n"
           "  link.dp=4             the links that a dimension uses are 4 times as fast, for all that goes over them; "
           "link=4: all\n"
           "  overlap=perfect       transfers run under compute\n"
           "  cores=enough          every kernel has a core for each of its threads\n"
           "  balance=stages        all stages compute equally long; balance=experts: all ranks' experts\n"
           "  recompute=0           nothing is computed again for the backward pass\n"
           "  micro_batches=8 schedule=zb-h1   the pipeline's step is played anew; not together with other changes\n";
}

Result<WhatIf> whatIf(const LedgerRun& run, const RunFacts& facts, std::span<const std::string> changes)
{
    const std::vector<Window> counted = countedStretches(facts);
    const Remedies remedies(run.source.input, run.result, counted);
    if (!remedies.canReplay())
        return Error(
            fmt::format("replay: the run holds nothing to replay, or more than {} operations; choose fewer ranks",
                ledger::ReplayGraph::kMostOps));
    const auto plans = std::ranges::count_if(changes, isPlan);
    if (plans > 0 && plans != std::ssize(changes))
        return Error(
            fmt::format("change {}: not together with changes of other kinds", *std::ranges::find_if(changes, isPlan)));
    Changes wanted(run, facts, remedies, counted);
    // A fixed rank first: factors are about what it then has.
    std::vector<std::string> inOrder(changes.begin(), changes.end());
    std::ranges::stable_partition(inOrder, [](const std::string& change) { return change.starts_with("fix="); });
    for (const std::string& change : plans > 0 ? std::vector<std::string>() : inOrder) {
        if (const Status status = wanted.add(change); !status)
            return status.error();
    }
    const auto replayed = plans > 0 ? playedAnew(run, facts, changes) : wanted.predict();
    if (!replayed)
        return replayed.error();
    const Prediction& prediction = *replayed;
    const std::vector<StepSpan> all = tiledSteps(facts.steps);
    const std::vector<StepSpan> steps
        = run.summary.counted ? stepsIn(all, *run.summary.counted) : std::vector<StepSpan>();
    const std::int64_t parts = std::max<std::int64_t>(1, std::ssize(steps));
    const double noise = noiseOf(steps);
    WhatIf result;
    result.counted = run.summary.counted;
    result.changes.assign(changes.begin(), changes.end());
    result.steps = std::ssize(steps);
    result.baselineStepNs = prediction.baselineNs / parts;
    result.predictedStepNs = prediction.predictedNs / parts;
    result.lowNs = std::llround(static_cast<double>(prediction.lowNs / parts) * (1 - std::min(1.0, noise)));
    result.highNs = std::llround(static_cast<double>(prediction.highNs / parts) * (1 + noise));
    return result;
}

} // namespace rankscope::tracing
