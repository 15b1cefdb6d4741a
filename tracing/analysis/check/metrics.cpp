#include "tracing/analysis/check/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rankscope::tracing {

namespace {

constexpr double kNsPerMs = 1e6, kNsPerUs = 1e3;
constexpr std::string_view kShare = "share.", kAlarms = "alarms.";

struct Metric {
    std::string_view name;
    std::string_view meaning;
    std::optional<double> (*value)(const RunAnalysis& run, const RunLedger& ledger);
};

std::optional<double> lastOf(const RunAnalysis& run, SeriesKind kind)
{
    const Series* series = findSeries(run.series, kind);
    return series && !series->samples.empty() ? std::optional(series->samples.back().value) : std::nullopt;
}

std::optional<double> steps(const RunAnalysis& run, std::int64_t StepStats::*ns)
{
    return run.stepStats.count > 0 ? std::optional(static_cast<double>(run.stepStats.*ns) / kNsPerMs) : std::nullopt;
}

double alarms(const RunAnalysis& run, std::string_view cause)
{
    return static_cast<double>(std::ranges::count_if(run.findings,
        [&](const Finding& finding) { return !finding.cause.empty() && (cause.empty() || finding.cause == cause); }));
}

std::optional<double> meanThroughput(const RunAnalysis& run)
{
    const Series* series = findSeries(run.series, SeriesKind::TokensPerSecond);
    double sum = 0, count = 0;
    if (series) {
        for (const CounterSample& sample : series->samples) {
            if (sample.timeNs > run.window.beginNs && std::isfinite(sample.value)) {
                sum += sample.value;
                ++count;
            }
        }
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
}

const std::array<Metric, 13>& metrics()
{
    static const std::array<Metric, 13> kMetrics{ {
        { "step_ms", "mean time of a step",
            [](const RunAnalysis& run, const RunLedger&) { return steps(run, &StepStats::meanNs); } },
        { "step_ms.p95", "95 of 100 steps take no longer",
            [](const RunAnalysis& run, const RunLedger&) { return steps(run, &StepStats::p95Ns); } },
        { "step_ms.worst", "longest step",
            [](const RunAnalysis& run, const RunLedger&) { return steps(run, &StepStats::worstNs); } },
        { "steps", "steps counted",
            [](const RunAnalysis& run, const RunLedger&) {
                return std::optional(static_cast<double>(run.stepStats.count));
            } },
        { "mfu", "model FLOPs of theoretical compute, 0 to 1",
            [](const RunAnalysis& run, const RunLedger&) {
                return run.usefulFlops && run.capacityFlops && *run.capacityFlops > 0
                    ? std::optional(*run.usefulFlops / *run.capacityFlops)
                    : std::nullopt;
            } },
        { "ettr", "productive share of all rank time, 0 to 1",
            [](const RunAnalysis&, const RunLedger& ledger) {
                return ledger.goodput.total > 0 ? std::optional(static_cast<double>(ledger.goodput.ettrPpm) / 1e6)
                                                : std::nullopt;
            } },
        { "failures", "attempts that failed",
            [](const RunAnalysis& run, const RunLedger&) {
                return std::optional(static_cast<double>(run.facts.failures.size()));
            } },
        { "alarms", "findings that name a culprit or a failure; alarms.CAUSE: of that cause",
            [](const RunAnalysis& run, const RunLedger&) { return std::optional(alarms(run, {})); } },
        { "losses", "records dropped, repaired or not understood",
            [](const RunAnalysis& run, const RunLedger&) {
                std::int64_t sum = 0;
                for (const Loss& loss : run.facts.losses)
                    sum += loss.count;
                return std::optional(static_cast<double>(sum));
            } },
        { "clock_error_us", "greatest error of a rank's clock",
            [](const RunAnalysis& run, const RunLedger&) {
                std::int64_t most = 0;
                for (const RankInfo& rank : run.facts.ranks)
                    most = std::max(most, rank.clockErrorNs);
                return std::optional(static_cast<double>(most) / kNsPerUs);
            } },
        { "tokens_per_s", "mean throughput",
            [](const RunAnalysis& run, const RunLedger&) { return meanThroughput(run); } },
        { "loss", "training loss of the last step, nats",
            [](const RunAnalysis& run, const RunLedger&) { return lastOf(run, SeriesKind::Loss); } },
        { "held_out_loss", "last loss on held-out text, nats",
            [](const RunAnalysis& run, const RunLedger&) { return lastOf(run, SeriesKind::HeldOutLoss); } },
    } };
    return kMetrics;
}

/// "wait" is wait.dp, wait.tp and so on together.
bool isInside(const std::string& leaf, std::string_view name)
{
    return leaf.starts_with(name) && (leaf.size() == name.size() || leaf[name.size()] == '.');
}

double shareOf(std::string_view leaf, const RunLedger& ledger)
{
    std::int64_t ns = 0;
    for (const ledger::LedgerTotal& total : ledger.totals) {
        if (isInside(ledger::leafName(total.leaf), leaf))
            ns += total.ns;
    }
    return static_cast<double>(ns) / static_cast<double>(ledger.capacityNs);
}

} // namespace

std::string metricHelp()
{
    std::string text;
    for (const Metric& metric : metrics())
        text.append(metric.name).append(": ").append(metric.meaning).append("\n");
    return text + "share.LEAF: of the ledger, 0 to 1; share.wait is wait.dp, wait.tp, ... together\n";
}

bool isMetric(std::string_view name)
{
    return std::ranges::find(metrics(), name, &Metric::name) != metrics().end()
        || (name.starts_with(kShare) && name.size() > kShare.size())
        || (name.starts_with(kAlarms) && name.size() > kAlarms.size());
}

std::optional<double> metricOf(std::string_view name, const RunAnalysis& run, const RunLedger& ledger)
{
    if (name.starts_with(kShare))
        return ledger.capacityNs > 0 ? std::optional(shareOf(name.substr(kShare.size()), ledger)) : std::nullopt;
    if (name.starts_with(kAlarms))
        return alarms(run, name.substr(kAlarms.size()));
    const auto metric = std::ranges::find(metrics(), name, &Metric::name);
    return metric == metrics().end() ? std::nullopt : metric->value(run, ledger);
}

} // namespace rankscope::tracing
