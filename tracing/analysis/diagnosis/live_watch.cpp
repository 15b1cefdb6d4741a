#include "tracing/analysis/diagnosis/live_watch.h"

#include "tracing/analysis/diagnosis/detectors.h"
#include "tracing/analysis/diagnosis/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace rankscope::tracing::diagnosis {

namespace {

/// Steps from which on there is a baseline; the first one (warm-up) is never in it.
constexpr std::size_t kLeastBaseline = 5;
/// So many unusual steps on end are a change for good.
constexpr std::size_t kNewNormal = 30;
/// Smaller exchanges say nothing about a link.
constexpr std::int64_t kLeastBytes = 4096;

constexpr std::array<DetectorKind, 9> kKinds{ {
    { "straggler", 0.75, 3, "a rank's speed over its peers', 1 is equal" },
    { "step_time", 1.1, 3, "a step over its baseline, which follows changes that stay" },
    { "wait_share", 0.05, 3, "share of rank time spent waiting in a dimension, above its baseline" },
    { "transfer", 1.5, 3, "the quickest exchange of a step on a route, over its baseline" },
    { "not_a_number", 0, 1, "loss or gradient norm" },
    { "loss_spike", 2.5, 1, "standard deviations of the loss above its moving mean (ZClip)" },
    { "dropped", 0, 1, "records that were lost" },
    { "clock_error", 0.5, 1,
        "a clock's error over the median exchange: beyond, waits and transfers cannot be told apart" },
    { "hang", 10, 1, "seconds without progress" },
} };
constexpr std::array<std::string_view, 5> kActions{ "notify", "mark", "checkpoint", "stop", "restart" };

double ns(std::int64_t value) { return static_cast<double>(value); }

Alert alertOf(const DetectorRule& rule, const StepMeasures& step, double value, std::string text)
{
    Alert alert;
    alert.rule = rule;
    alert.title = rule.kind + ": " + std::move(text);
    alert.step = step.step;
    alert.value = value;
    alert.window = step.window;
    return alert;
}

} // namespace

std::span<const DetectorKind> detectorKinds() { return kKinds; }
std::span<const std::string_view> detectorActions() { return kActions; }

std::optional<double> LiveWatch::Baseline::usual() const
{
    if (usual_.size() < kLeastBaseline)
        return std::nullopt;
    return quantile({ usual_.begin(), usual_.end() }, 0.5);
}

void LiveWatch::Baseline::add(double value, double limit)
{
    const bool isUsual = usual_.size() < kLeastBaseline || value <= limit;
    if (!isUsual) {
        unusual_.push_back(value);
        if (unusual_.size() >= kNewNormal)
            usual_ = std::move(unusual_);
    } else {
        usual_.push_back(value);
    }
    if (isUsual || unusual_.size() >= kNewNormal)
        unusual_.clear();
    if (usual_.size() > kBaseline)
        usual_.pop_front();
}

LiveWatch::LiveWatch(std::vector<DetectorRule> rules)
    : rules_(std::move(rules))
{
}

void LiveWatch::hold(
    const DetectorRule& rule, const std::string& key, bool holds, Alert alert, std::vector<Alert>& alerts)
{
    State& state = states_[rule.kind + " " + key];
    state.holds = holds ? state.holds + 1 : 0;
    state.isTold = state.isTold && holds;
    if (state.holds < rule.steps || state.isTold)
        return;
    state.isTold = true;
    alerts.push_back(std::move(alert));
}

void LiveWatch::straggler(const DetectorRule& rule, const StepMeasures& step, std::vector<Alert>& alerts)
{
    for (const RankStep& rank : step.ranks) {
        const double times = slowness(step, rank), score = times > 0 ? 1 / times : 1;
        Alert alert = alertOf(rule, step, score,
            fmt::format("rank {} computes {:.2f} times as long as its peers (score {:.2f}, at least {:.2f})", rank.rank,
                times, score, rule.threshold));
        alert.ranks = { rank.rank };
        hold(rule, std::to_string(rank.rank), score < rule.threshold, std::move(alert), alerts);
    }
}

void LiveWatch::stepTime(const DetectorRule& rule, const StepMeasures& step, std::vector<Alert>& alerts)
{
    Baseline& baseline = baselines_["step"];
    const double length = ns(step.window.durationNs());
    const auto usual = baseline.usual();
    const double limit = usual ? rule.threshold * *usual : std::numeric_limits<double>::max();
    hold(rule, "", length > limit,
        alertOf(rule, step, usual ? length / *usual : 1,
            fmt::format("step {} takes {:.1f} ms, {:.2f} times its baseline", step.step, length / 1e6,
                usual ? length / *usual : 1)),
        alerts);
    baseline.add(length, limit);
}

void LiveWatch::waitShare(const DetectorRule& rule, const StepMeasures& step, std::vector<Alert>& alerts)
{
    const double capacity = ns(step.window.durationNs()) * static_cast<double>(step.ranks.size());
    for (const auto& [dimension, waitNs] : step.waitNs) {
        const double share = capacity > 0 ? ns(waitNs) / capacity : 0;
        const std::string name(toString(dimension));
        Baseline& baseline = baselines_["wait " + name];
        const auto usual = baseline.usual();
        const double limit = usual ? *usual + rule.threshold : std::numeric_limits<double>::max();
        hold(rule, name, share > limit,
            alertOf(rule, step, usual ? share - *usual : 0,
                fmt::format("waits in {} are {:.1f} % of rank time, usual are {:.1f} %", name, 100 * share,
                    100 * usual.value_or(share))),
            alerts);
        baseline.add(share, limit);
    }
}

void LiveWatch::transfer(const DetectorRule& rule, const StepMeasures& step, std::vector<Alert>& alerts)
{
    for (const auto& [route, flight] : step.flights) {
        if (route.bytes < kLeastBytes)
            continue;
        std::string name = fmt::format(
            "{} in {} of {} bytes between ranks", toString(route.op), toString(route.dimension), route.bytes);
        for (const std::int32_t rank : route.ranks)
            name += fmt::format(" {}", rank);
        Baseline& baseline = baselines_["flight " + name];
        const auto usual = baseline.usual();
        const double least = ns(flight.leastNs);
        const double limit = usual ? rule.threshold * *usual : std::numeric_limits<double>::max();
        Alert alert = alertOf(rule, step, usual ? least / *usual : 1,
            fmt::format("{} takes {:.2f} ms, usual are {:.2f} ms", name, least / 1e6, usual.value_or(least) / 1e6));
        alert.ranks = route.ranks;
        hold(rule, name, least > limit, std::move(alert), alerts);
        baseline.add(least, limit);
        typicalFlightNs_ = usual.value_or(typicalFlightNs_);
    }
}

void LiveWatch::take(const StepMeasures& step, std::vector<Alert>& alerts)
{
    if (step_ == 0 && step.attempt == 0) { // warms up
        step_ = step.step;
        return;
    }
    step_ = step.step;
    for (const DetectorRule& rule : rules_) {
        if (rule.kind == "straggler")
            straggler(rule, step, alerts);
        else if (rule.kind == "step_time")
            stepTime(rule, step, alerts);
        else if (rule.kind == "wait_share")
            waitShare(rule, step, alerts);
        else if (rule.kind == "transfer")
            transfer(rule, step, alerts);
    }
}

void LiveWatch::loss(const DetectorRule& rule, const CounterSample& sample, std::vector<Alert>& alerts)
{
    constexpr double kKept = 0.97; // of the moving mean, a step
    constexpr std::int64_t kWarmUp = 20;
    const double deviation = std::sqrt(lossVariance_);
    const double z = deviation > 0 ? (sample.value - lossMean_) / deviation : 0;
    Alert alert;
    alert.rule = rule;
    alert.title = fmt::format("{}: the loss is {:.3f}, {:.1f} standard deviations above its moving mean of {:.3f}",
        rule.kind, sample.value, z, lossMean_);
    alert.step = step_;
    alert.value = z;
    alert.window = { sample.timeNs, sample.timeNs };
    hold(rule, "", losses_ > kWarmUp && z > rule.threshold, std::move(alert), alerts);
    const double off = sample.value - lossMean_;
    lossMean_ = losses_ == 0 ? sample.value : lossMean_ + (1 - kKept) * off;
    lossVariance_ = losses_ == 0 ? 0 : kKept * (lossVariance_ + (1 - kKept) * off * off);
    ++losses_;
}

Status LiveWatch::counters(TraceReader& reader, std::vector<Alert>& alerts)
{
    const auto lanes = reader.lanes();
    if (!lanes)
        return lanes.error();
    for (const Lane& lane : *lanes) {
        const bool isLoss = lane.name == "loss";
        if (lane.kind != LaneKind::Counter || (!isLoss && lane.name != "gradient norm"))
            continue;
        std::int64_t& seen
            = seenUntilNs_.try_emplace(lane.id, std::numeric_limits<std::int64_t>::min() / 4).first->second;
        const auto samples = reader.counters(lane.id, { seen, std::numeric_limits<std::int64_t>::max() });
        if (!samples)
            return samples.error();
        for (const CounterSample& sample : *samples) {
            seen = sample.timeNs + 1;
            for (const DetectorRule& rule : rules_) {
                if (rule.kind == "not_a_number") {
                    Alert alert;
                    alert.rule = rule;
                    alert.title = fmt::format("{}: the {} is none", rule.kind, lane.name);
                    alert.step = step_;
                    alert.window = { sample.timeNs, sample.timeNs };
                    hold(rule, lane.name, !std::isfinite(sample.value), std::move(alert), alerts);
                } else if (rule.kind == "loss_spike" && isLoss && std::isfinite(sample.value)) {
                    loss(rule, sample, alerts);
                }
            }
        }
    }
    return Done{};
}

Status LiveWatch::recording(TraceReader& reader, std::vector<Alert>& alerts)
{
    const auto losses = reader.losses();
    const auto ranks = reader.ranks();
    if (!losses || !ranks)
        return losses ? ranks.error() : losses.error();
    std::int64_t dropped = 0;
    for (const Loss& loss : *losses)
        dropped += loss.kind == "ring full" ? loss.count : 0;
    std::int64_t error = 0;
    for (const RankInfo& rank : *ranks)
        error = std::max(error, rank.clockErrorNs);
    for (const DetectorRule& rule : rules_) {
        Alert alert;
        alert.rule = rule;
        alert.step = step_;
        if (rule.kind == "dropped") {
            alert.value = ns(dropped);
            alert.title = fmt::format("{}: {} records did not fit into their rings", rule.kind, dropped);
            hold(rule, "", alert.value > rule.threshold, std::move(alert), alerts);
        } else if (rule.kind == "clock_error" && typicalFlightNs_ > 0) {
            alert.value = ns(error) / typicalFlightNs_;
            alert.title = fmt::format("{}: clocks differ by up to {:.3f} ms, an exchange takes {:.3f} ms", rule.kind,
                ns(error) / 1e6, typicalFlightNs_ / 1e6);
            hold(rule, "", alert.value > rule.threshold, std::move(alert), alerts);
        }
    }
    return Done{};
}

Result<std::vector<Alert>> LiveWatch::poll(TraceReader& reader)
{
    std::vector<Alert> alerts;
    for (;;) {
        const auto steps = steps_.next(reader);
        if (!steps)
            return steps.error();
        for (const StepMeasures& step : *steps)
            take(step, alerts);
        if (steps->empty())
            break;
    }
    if (const Status read = counters(reader, alerts); !read)
        return read.error();
    if (const Status read = recording(reader, alerts); !read)
        return read.error();
    return alerts;
}

} // namespace rankscope::tracing::diagnosis
