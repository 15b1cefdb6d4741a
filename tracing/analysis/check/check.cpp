#include "tracing/analysis/check/check.h"

#include "tracing/analysis/check/metrics.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>

namespace rankscope::tracing {

namespace {

constexpr std::string_view kHeldOut = "held out";
constexpr int kHeldOutVersion = 1;

struct Measured {
    RunAnalysis run;
    RunLedger ledger;
};

/// Each choice of steps is analysed once, however many rules ask for it.
class Measurements {
public:
    explicit Measurements(TraceReader& reader)
        : reader_(reader)
    {
    }

    Result<const Measured*> of(const std::optional<StepRange>& steps)
    {
        const auto key = steps ? std::pair(steps->first, steps->last) : std::pair<std::int64_t, std::int64_t>(0, -1);
        if (const auto known = known_.find(key); known != known_.end())
            return &known->second;
        AnalysisOptions options;
        options.steps = steps;
        auto run = analyse(reader_, options);
        if (!run)
            return run.error();
        auto ledger = runLedger(reader_, run->facts);
        if (!ledger)
            return ledger.error();
        if (run->counted) {
            if (auto part = onlySteps(*ledger, *run->counted))
                ledger = std::move(*part);
        }
        return &known_.emplace(key, Measured{ std::move(*run), std::move(*ledger) }).first->second;
    }

private:
    TraceReader& reader_;
    std::map<std::pair<std::int64_t, std::int64_t>, Measured> known_;
};

std::string heldOutKey(const Rule& rule)
{
    return rule.steps ? fmt::format("{} {}:{}", rule.metric, rule.steps->first, rule.steps->last)
                      : fmt::format("{} run", rule.metric);
}

/// "VALUE since DATE"; an empty value is one that the run did not tell.
void takeKept(const std::string& kept, CheckedRule& checked)
{
    const std::size_t space = kept.find(' ');
    double value = 0;
    if (std::from_chars(kept.data(), kept.data() + space, value).ec == std::errc())
        checked.value = value;
    checked.note = "held out, looked at " + kept.substr(space + 1);
}

Status measure(TraceReader& reader, Measurements& measurements, CheckedRule& checked)
{
    const Rule& rule = checked.rule;
    if (rule.heldOut) {
        if (const auto kept = reader.kept(kHeldOut, kHeldOutVersion, heldOutKey(rule))) {
            takeKept(*kept, checked);
            return Done{};
        }
    }
    const auto measured = measurements.of(rule.steps);
    if (!measured) {
        checked.note = measured.error().message();
        return Done{};
    }
    checked.value = metricOf(rule.metric, (*measured)->run, (*measured)->ledger);
    if (!checked.value)
        checked.note = "the run does not tell it";
    if (!rule.heldOut)
        return Done{};
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const std::string kept
        = fmt::format("{} {:%Y-%m-%d %H:%M:%S} UTC", checked.value ? fmt::format("{}", *checked.value) : "-",
            fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
    reader.keep(kHeldOut, kHeldOutVersion, heldOutKey(rule), kept);
    if (!reader.kept(kHeldOut, kHeldOutVersion, heldOutKey(rule)))
        return Error(
            "the run file cannot be written, so that nobody would know that its held-out steps were looked at");
    takeKept(kept, checked);
    return Done{};
}

} // namespace

bool CheckResult::isGood() const
{
    return registration != Registration::Changed && std::ranges::all_of(rules, &CheckedRule::isKept);
}

Result<CheckResult> checkRun(TraceReader& reader, const Rules& rules)
{
    const auto run = reader.run();
    const auto provenance = reader.provenance();
    if (!run || !provenance)
        return run ? provenance.error() : run.error();
    CheckResult result;
    result.run = run->name;
    result.hash = rules.hash;
    if (const auto registered = provenance->find(std::string(kRulesHashKey)); registered != provenance->end()) {
        result.registeredHash = registered->second;
        result.registration
            = registered->second == rules.hash ? CheckResult::Registration::Before : CheckResult::Registration::Changed;
    }
    Measurements measurements(reader);
    for (const Rule& rule : rules.rules) {
        if (!rule.isAbout(run->name))
            continue;
        CheckedRule checked;
        checked.rule = rule;
        if (const Status measured = measure(reader, measurements, checked); !measured)
            return measured.error();
        checked.isKept = checked.value && (!rule.atMost || *checked.value <= *rule.atMost)
            && (!rule.atLeast || *checked.value >= *rule.atLeast);
        result.rules.push_back(std::move(checked));
    }
    return result;
}

std::vector<CheckResult> missingRuns(const std::vector<CheckResult>& results, const Rules& rules)
{
    std::map<std::string, CheckResult> missing;
    for (const Rule& rule : rules.rules) {
        for (const std::string& run : rule.runs) {
            if (std::ranges::find(results, run, &CheckResult::run) != results.end())
                continue;
            CheckResult& result = missing[run];
            result.run = run;
            result.hash = rules.hash;
            result.rules.push_back({ rule, std::nullopt, false, "this run was not shown" });
        }
    }
    std::vector<CheckResult> all;
    for (auto& [run, result] : missing)
        all.push_back(std::move(result));
    return all;
}

} // namespace rankscope::tracing
