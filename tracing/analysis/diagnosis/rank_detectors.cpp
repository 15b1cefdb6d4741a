#include "tracing/analysis/diagnosis/detectors.h"
#include "tracing/analysis/diagnosis/evidence.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace rankscope::tracing::diagnosis {

namespace {

/// Evidence that a stretch of steps needs in sum. One step gives at most 1 (pauses, which skip steps: 4).
constexpr double kEnough = 5, kEnoughPauses = 8;
/// Kernels shorter than this are mostly the recording's own grain.
constexpr std::int64_t kLeastKernelNs = 5'000;
/// A rank that computes this much longer than its peers is no straggler yet: NVRx asks for 1 / 0.75.
constexpr double kSlow = 1.3;
constexpr double kMore = 1.2;
/// Of a calm step: what a rank may lose in data loading, pauses or stalls.
constexpr double kLost = 0.06;

double bounded(double evidence, double most = 1) { return std::clamp(evidence, -1.0, most); }

std::vector<std::int32_t> ranksOf(Steps steps)
{
    std::set<std::int32_t> ranks;
    for (const StepMeasures& step : steps) {
        for (const RankStep& rank : step.ranks)
            ranks.insert(rank.rank);
    }
    return { ranks.begin(), ranks.end() };
}

const RankStep* find(const StepMeasures& step, std::int32_t rank)
{
    const auto found = std::ranges::find(step.ranks, rank, &RankStep::rank);
    return found == step.ranks.end() ? nullptr : &*found;
}

double ns(std::int64_t value) { return static_cast<double>(value); }

Diagnosis diagnosisOf(Trouble trouble, std::int32_t rank, Steps steps, const Stretch& stretch)
{
    Diagnosis diagnosis;
    diagnosis.trouble = trouble;
    diagnosis.ranks = { rank };
    diagnosis.firstStep = steps[stretch.first].step;
    diagnosis.lastStep = steps[stretch.last].step;
    diagnosis.lasts = stretch.last + 1 == steps.size();
    diagnosis.window = { steps[stretch.first].window.beginNs, steps[stretch.last].window.endNs };
    return diagnosis;
}

/// How much longer this rank's kernels take than the same kernels take on the others in the same step; 1 where the
/// others run none of them. Quartiles are compared, so that what is preempted or paused does not count.
struct Speed {
    double ownNs = 0;
    double peersNs = 0;
    double ratio() const { return peersNs > 0 ? ownNs / peersNs : 1; }
};
Speed speedOf(const StepMeasures& step, const RankStep& rank)
{
    Speed speed;
    for (const auto& [signature, own] : rank.kernels) {
        std::vector<double> peers;
        for (const RankStep& other : step.ranks) {
            const auto same = other.kernels.find(signature);
            if (other.rank != rank.rank && same != other.kernels.end() && same->second.typicalNs > 0)
                peers.push_back(ns(same->second.typicalNs));
        }
        if (peers.empty() || own.typicalNs < kLeastKernelNs)
            continue;
        speed.ownNs += ns(own.count) * ns(own.typicalNs);
        speed.peersNs += ns(own.count) * quantile(std::move(peers), 0.5);
    }
    return speed;
}

/// What a kernel takes when nothing disturbs it, by signature: the lower quartile over ranks and steps.
std::map<SignatureId, double> calmKernels(Steps steps)
{
    std::map<SignatureId, std::vector<double>> all;
    for (const StepMeasures& step : steps) {
        for (const RankStep& rank : step.ranks) {
            for (const auto& [signature, sum] : rank.kernels)
                all[signature].push_back(ns(sum.typicalNs));
        }
    }
    std::map<SignatureId, double> calm;
    for (auto& [signature, durations] : all)
        calm[signature] = quantile(std::move(durations), 0.25);
    return calm;
}

/// A rank's excess over what it loses in its calmest steps, for losses that come and go.
std::optional<Diagnosis> lossOf(Trouble trouble, std::int32_t rank, Steps steps,
    const std::function<double(const RankStep&)>& loss, double most, double enough)
{
    std::vector<double> values;
    for (const StepMeasures& step : steps) {
        const RankStep* own = find(step, rank);
        values.push_back(own ? loss(*own) : 0);
    }
    const double base = std::max(0.0, quantile(values, 0.1));
    const double allowed = kLost * calmStepNs(steps);
    std::vector<double> evidence;
    for (const double value : values)
        evidence.push_back(bounded((value - base) / allowed - 1, most));
    const auto stretch = strongestStretch(evidence, enough);
    if (!stretch || allowed <= 0)
        return std::nullopt;
    Diagnosis diagnosis = diagnosisOf(trouble, rank, steps, *stretch);
    std::size_t hit = 0;
    for (std::size_t i = stretch->first; i <= stretch->last; ++i) {
        diagnosis.excessNs += static_cast<std::int64_t>(std::max(0.0, values[i] - base));
        hit += evidence[i] > 0 ? 1 : 0;
    }
    // Once is an accident, and so is what is rare.
    if (hit < 3 || ns(diagnosis.excessNs) < allowed * static_cast<double>(stretch->size()) / 2)
        return std::nullopt;
    return diagnosis;
}

/// Not on a core although none was missing: what of a rank's gaps and stalls the run queue does not explain.
double asleepNs(const RankStep& rank)
{
    return rank.queueNs ? ns(std::max<std::int64_t>(0, rank.idleNs + rank.offCoreNs - *rank.queueNs)) : 0;
}

/// Whether the rank's gaps account for at least half of what it sleeps in those steps.
bool sleepsInGaps(Steps steps, const Diagnosis& diagnosis)
{
    double gaps = 0, asleep = 0;
    for (const StepMeasures& step : steps) {
        const RankStep* own = find(step, diagnosis.ranks.front());
        if (!own || step.step < diagnosis.firstStep || step.step > diagnosis.lastStep)
            continue;
        gaps += ns(own->idleNs);
        asleep += asleepNs(*own);
    }
    return 2 * gaps >= asleep;
}

} // namespace

double slowness(const StepMeasures& step, const RankStep& rank) { return speedOf(step, rank).ratio(); }

double calmStepNs(Steps steps)
{
    std::vector<double> lengths;
    for (const StepMeasures& step : steps)
        lengths.push_back(ns(step.window.durationNs()));
    return quantile(std::move(lengths), 0.25);
}

std::vector<Diagnosis> slowCompute(Steps steps)
{
    std::vector<Diagnosis> found;
    for (const std::int32_t rank : ranksOf(steps)) {
        std::vector<Speed> speeds;
        std::vector<double> evidence;
        for (const StepMeasures& step : steps) {
            const RankStep* own = find(step, rank);
            speeds.push_back(own ? speedOf(step, *own) : Speed());
            evidence.push_back(bounded((speeds.back().ratio() - kSlow) / 0.2));
        }
        const auto stretch = strongestStretch(evidence, kEnough);
        if (!stretch)
            continue;
        Diagnosis diagnosis = diagnosisOf(Trouble::SlowCompute, rank, steps, *stretch);
        Speed sum;
        for (std::size_t i = stretch->first; i <= stretch->last; ++i) {
            sum.ownNs += speeds[i].ownNs;
            sum.peersNs += speeds[i].peersNs;
        }
        diagnosis.times = sum.ratio();
        diagnosis.excessNs = static_cast<std::int64_t>(sum.ownNs - sum.peersNs);
        if (diagnosis.times >= kSlow)
            found.push_back(std::move(diagnosis));
    }
    return found;
}

std::vector<Diagnosis> moreWork(Steps steps)
{
    const std::map<SignatureId, double> calm = calmKernels(steps);
    std::vector<Diagnosis> found;
    for (const std::int32_t rank : ranksOf(steps)) {
        std::vector<double> amounts;
        for (const StepMeasures& step : steps) {
            double amount = 0;
            if (const RankStep* own = find(step, rank)) {
                for (const auto& [signature, sum] : own->kernels)
                    amount += ns(sum.count) * calm.at(signature);
            }
            amounts.push_back(amount);
        }
        // Equal work is equal to the launch; the calmest steps are what the rank has by design.
        const double base = quantile(amounts, 0.05);
        if (base <= 0)
            continue;
        std::vector<double> evidence;
        for (const double amount : amounts)
            evidence.push_back(bounded((amount / base - kMore) / 0.2));
        const auto stretch = strongestStretch(evidence, kEnough);
        if (!stretch)
            continue;
        Diagnosis diagnosis = diagnosisOf(Trouble::MoreWork, rank, steps, *stretch);
        double sum = 0;
        for (std::size_t i = stretch->first; i <= stretch->last; ++i)
            sum += amounts[i];
        const double usual = base * static_cast<double>(stretch->size());
        diagnosis.times = sum / usual;
        diagnosis.excessNs = static_cast<std::int64_t>(sum - usual);
        if (diagnosis.times >= kMore)
            found.push_back(std::move(diagnosis));
    }
    return found;
}

std::vector<Diagnosis> slowData(Steps steps)
{
    std::vector<Diagnosis> found;
    for (const std::int32_t rank : ranksOf(steps)) {
        const auto loss = [](const RankStep& own) { return ns(own.dataNs); };
        if (auto diagnosis = lossOf(Trouble::Data, rank, steps, loss, 1, kEnough))
            found.push_back(std::move(*diagnosis));
    }
    return found;
}

std::vector<Diagnosis> pausesAndStalls(Steps steps)
{
    std::vector<Diagnosis> found;
    for (const std::int32_t rank : ranksOf(steps)) {
        auto diagnosis = lossOf(Trouble::Stall, rank, steps, asleepNs, 4, kEnoughPauses);
        if (!diagnosis)
            continue;
        if (sleepsInGaps(steps, *diagnosis))
            diagnosis->trouble = Trouble::Pause;
        found.push_back(std::move(*diagnosis));
    }
    return found;
}

} // namespace rankscope::tracing::diagnosis
