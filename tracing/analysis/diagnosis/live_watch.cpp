#include "tracing/analysis/diagnosis/live_watch.h"

#include "tracing/analysis/diagnosis/detectors.h"
#include "tracing/analysis/diagnosis/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

namespace rankscope::tracing::diagnosis {

namespace {

/// Smaller exchanges say nothing about a link.
constexpr std::int64_t kLeastBytes = 4096;
/// Steps that samples are told by: more than are read between two looks.
constexpr std::size_t kMostEnds = 4096;
constexpr double kNever = std::numeric_limits<double>::max();

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
    { "hang", 10, 1, "seconds without progress, and at least five steps long" },
} };
constexpr std::array<std::string_view, 5> kActions{ "notify", "mark", "checkpoint", "stop", "restart" };

double ns(std::int64_t value) { return static_cast<double>(value); }

Alert alertOf(std::int64_t step, Window window, double value, std::string title)
{
    Alert alert;
    alert.title = std::move(title);
    alert.step = step;
    alert.value = value;
    alert.window = window;
    return alert;
}

/// Where the step's exchanges were under way, the one in the middle; none without exchanges that say something.
std::optional<double> medianFlight(const StepMeasures& step)
{
    std::vector<double> lengths;
    for (const auto& [route, flight] : step.flights) {
        if (route.bytes >= kLeastBytes)
            lengths.push_back(ns(flight.leastNs));
    }
    return lengths.empty() ? std::nullopt : std::optional(quantile(std::move(lengths), 0.5));
}

std::int64_t endOf(const RankStep& rank) { return rank.window.endNs; }

std::string nameOf(const Route& route)
{
    std::string name
        = fmt::format("{} in {} of {} bytes between ranks", toString(route.op), toString(route.dimension), route.bytes);
    for (const std::int32_t rank : route.ranks)
        name += fmt::format(" {}", rank);
    return name;
}

} // namespace

std::span<const DetectorKind> detectorKinds() { return kKinds; }
std::span<const std::string_view> detectorActions() { return kActions; }

LiveWatch::LiveWatch(const std::vector<DetectorRule>& rules)
{
    for (const DetectorRule& rule : rules)
        rules_.emplace_back(rule);
}

void LiveWatch::straggler(WatchedRule& rule, const StepMeasures& step, std::vector<Alert>& alerts)
{
    for (const RankStep& rank : step.ranks) {
        const double times = slowness(step, rank), score = times > 0 ? 1 / times : 1;
        Alert alert = alertOf(step.step, step.window, score,
            fmt::format("rank {} computes {:.2f} times as long as its peers", rank.rank, times));
        alert.ranks = { rank.rank };
        rule.hold(std::to_string(rank.rank), score < rule.rule().threshold, std::move(alert), alerts);
    }
}

void LiveWatch::stepTime(WatchedRule& rule, const StepMeasures& step, std::vector<Alert>& alerts)
{
    Baseline& baseline = rule.baseline("");
    const double length = ns(step.window.durationNs());
    const auto usual = baseline.usual();
    const double limit = usual ? rule.rule().threshold * *usual : kNever, times = usual ? length / *usual : 1;
    rule.hold("", length > limit,
        alertOf(step.step, step.window, times,
            fmt::format("step {} takes {:.1f} ms, {:.2f} times its baseline", step.step, length / 1e6, times)),
        alerts);
    baseline.add(length, limit);
}

void LiveWatch::waitShare(WatchedRule& rule, const StepMeasures& step, std::vector<Alert>& alerts)
{
    const double capacity = ns(step.window.durationNs()) * static_cast<double>(step.ranks.size());
    for (const auto& [dimension, waitNs] : step.waitNs) {
        const double share = capacity > 0 ? ns(waitNs) / capacity : 0;
        const std::string name(toString(dimension));
        Baseline& baseline = rule.baseline(name);
        const auto usual = baseline.usual();
        const double limit = usual ? *usual + rule.rule().threshold : kNever;
        rule.hold(name, share > limit,
            alertOf(step.step, step.window, usual ? share - *usual : 0,
                fmt::format("waits in {} are {:.1f} % of rank time, usual are {:.1f} %", name, 100 * share,
                    100 * usual.value_or(share))),
            alerts);
        baseline.add(share, limit);
    }
}

void LiveWatch::transfer(WatchedRule& rule, const StepMeasures& step, std::vector<Alert>& alerts)
{
    for (const auto& [route, flight] : step.flights) {
        if (route.bytes < kLeastBytes)
            continue;
        const std::string name = nameOf(route);
        Baseline& baseline = rule.baseline(name);
        const auto usual = baseline.usual();
        const double least = ns(flight.leastNs), limit = usual ? rule.rule().threshold * *usual : kNever;
        Alert alert = alertOf(step.step, step.window, usual ? least / *usual : 1,
            fmt::format("{} takes {:.2f} ms, usual are {:.2f} ms", name, least / 1e6, usual.value_or(least) / 1e6));
        alert.ranks = route.ranks;
        rule.hold(name, least > limit, std::move(alert), alerts);
        baseline.add(least, limit);
    }
}

void LiveWatch::take(const StepMeasures& step, std::vector<Alert>& alerts)
{
    const bool isWarmUp = step_ == 0 && step.attempt == 0;
    step_ = step.step;
    ends_[std::ranges::min(step.ranks, {}, endOf).window.endNs] = { step.step, step.window.beginNs };
    if (ends_.size() > kMostEnds)
        ends_.erase(ends_.begin());
    if (isWarmUp)
        return;
    lengths_.add(ns(step.window.durationNs()), kNever);
    if (const auto flight = medianFlight(step))
        exchanges_.add(*flight, kNever);
    for (WatchedRule& rule : rules_) {
        if (rule.is("straggler"))
            straggler(rule, step, alerts);
        else if (rule.is("step_time"))
            stepTime(rule, step, alerts);
        else if (rule.is("wait_share"))
            waitShare(rule, step, alerts);
        else if (rule.is("transfer"))
            transfer(rule, step, alerts);
    }
}

/// Counters are written when a step has just ended.
LiveWatch::Ended LiveWatch::stepBefore(std::int64_t timeNs) const
{
    const auto next = ends_.upper_bound(timeNs);
    return next == ends_.begin() ? Ended{ 0, timeNs } : std::prev(next)->second;
}

void LiveWatch::take(const Lane& lane, const CounterSample& sample, std::vector<Alert>& alerts)
{
    const bool isLoss = lane.name == "loss", isNumber = std::isfinite(sample.value);
    const auto [step, beginNs] = stepBefore(sample.timeNs);
    const Window when{ beginNs, sample.timeNs };
    for (WatchedRule& rule : rules_) {
        if (rule.is("not_a_number")) {
            rule.hold(
                lane.name, !isNumber, alertOf(step, when, 0, fmt::format("the {} is not a number", lane.name)), alerts);
        } else if (rule.is("loss_spike") && isLoss && isNumber) {
            MovingMean& usual = rule.moving();
            const double z = usual.score(sample.value).value_or(0);
            rule.hold("", z > rule.rule().threshold,
                alertOf(step, when, z,
                    fmt::format("the loss is {:.3f}, {:.1f} standard deviations above its moving mean of {:.3f}",
                        sample.value, z, usual.mean())),
                alerts);
            usual.add(sample.value, rule.rule().threshold);
        }
    }
}

Status LiveWatch::counters(TraceReader& reader, std::vector<Alert>& alerts)
{
    const auto lanes = reader.lanes();
    if (!lanes)
        return lanes.error();
    for (const Lane& lane : *lanes) {
        if (lane.kind != LaneKind::Counter || (lane.name != "loss" && lane.name != "gradient norm"))
            continue;
        std::int64_t& seen
            = seenUntilNs_.try_emplace(lane.id, std::numeric_limits<std::int64_t>::min() / 4).first->second;
        const auto samples = reader.counters(lane.id, { seen, std::numeric_limits<std::int64_t>::max() });
        if (!samples)
            return samples.error();
        for (const CounterSample& sample : *samples) {
            seen = sample.timeNs + 1;
            take(lane, sample, alerts);
        }
    }
    return Done{};
}

Status LiveWatch::recording(TraceReader& reader, std::vector<Alert>& alerts)
{
    const auto losses = reader.losses();
    const auto ranks = reader.ranks();
    const auto window = reader.window();
    if (!losses || !ranks || !window)
        return !losses ? losses.error() : !ranks ? ranks.error() : window.error();
    std::int64_t dropped = 0;
    for (const Loss& loss : *losses)
        dropped += loss.kind == "ring full" ? loss.count : 0;
    const RankInfo* worst = nullptr;
    for (const RankInfo& rank : *ranks)
        worst = !worst || rank.clockErrorNs > worst->clockErrorNs ? &rank : worst;
    const Window now{ stepBefore(window->endNs).beginNs, window->endNs };
    const auto exchange = exchanges_.usual();
    for (WatchedRule& rule : rules_) {
        if (rule.is("dropped")) {
            rule.hold("", ns(dropped) > rule.rule().threshold,
                alertOf(step_, now, ns(dropped), fmt::format("{} records did not fit into their rings", dropped)),
                alerts);
        } else if (rule.is("clock_error") && worst && exchange && *exchange > 0) {
            const double error = ns(worst->clockErrorNs);
            Alert alert = alertOf(step_, now, error / *exchange,
                fmt::format("the clock of rank {} is known to {:.3f} ms, an exchange takes {:.3f} ms", worst->rank,
                    error / 1e6, *exchange / 1e6));
            alert.ranks = { worst->rank };
            rule.hold("", alert.value > rule.rule().threshold, std::move(alert), alerts);
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
