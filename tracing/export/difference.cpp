#include "tracing/export/difference.h"

#include "tracing/analysis/wording.h"
#include "tracing/export/json_writer.h"
#include "tracing/export/leaves.h"
#include "tracing/export/report_text.h"
#include "tracing/export/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace rankscope::tracing {

namespace {

using Unit = Difference::Unit;
constexpr std::size_t kKernels = 8;

std::optional<double> nsOf(std::int64_t ns) { return ns > 0 ? std::optional(static_cast<double>(ns)) : std::nullopt; }

/// Mean and standard deviation of the steps' own values; none for fewer than two steps.
struct Spread {
    double mean = 0;
    double deviation = 0;
    double count = 0;
};
std::optional<Spread> spreadOf(const std::vector<double>& values)
{
    if (values.size() < 2)
        return std::nullopt;
    Spread spread;
    spread.count = static_cast<double>(values.size());
    for (const double value : values)
        spread.mean += value / spread.count;
    for (const double value : values)
        spread.deviation += std::pow(value - spread.mean, 2) / (spread.count - 1);
    spread.deviation = std::sqrt(spread.deviation);
    return spread;
}

void addSpread(Difference& row, const std::vector<double>& ofA, const std::vector<double>& ofB)
{
    const auto a = spreadOf(ofA), b = spreadOf(ofB);
    row.spreadA = a ? std::optional(a->deviation) : std::nullopt;
    row.spreadB = b ? std::optional(b->deviation) : std::nullopt;
    if (!a || !b || !row.a || !row.b)
        return;
    const double error = std::sqrt(a->deviation * a->deviation / a->count + b->deviation * b->deviation / b->count);
    row.isNoise = std::abs(*row.b - *row.a) <= 2 * error;
}

std::vector<double> stepTimes(const RunAnalysis& run)
{
    std::vector<double> times;
    for (const StepSpan& step : run.steps)
        times.push_back(static_cast<double>(step.window.durationNs()));
    return times;
}

/// A leaf's share of all ranks' time in each counted step.
std::map<std::string, std::vector<double>> sharesBySteps(const RunAnalysis& run)
{
    std::map<std::string, std::vector<double>> shares;
    for (std::size_t step = 0; step < run.steps.size(); ++step) {
        TimeSplit split;
        for (const RankAnalysis& rank : run.ranks) {
            if (step < rank.bySteps.size())
                split += rank.bySteps[step];
        }
        const std::int64_t whole = split.windowNs - (run.sharedCores() ? split.descheduledNs : 0);
        for (const Leaf& leaf : leavesInWords(split)) {
            auto& values = shares[leaf.name];
            values.resize(step); // steps without the leaf have none of it
            values.push_back(whole > 0 ? static_cast<double>(leaf.ns) / static_cast<double>(whole) : 0);
        }
    }
    for (auto& [name, values] : shares)
        values.resize(run.steps.size());
    return shares;
}

void addSteps(std::vector<Difference>& rows, const RunAnalysis& a, const RunAnalysis& b)
{
    rows.push_back({ "step time, mean", Unit::Ns, nsOf(a.stepStats.meanNs), nsOf(b.stepStats.meanNs) });
    addSpread(rows.back(), stepTimes(a), stepTimes(b));
    rows.push_back({ "step time, p95", Unit::Ns, nsOf(a.stepStats.p95Ns), nsOf(b.stepStats.p95Ns) });
    rows.push_back({ "step time, worst", Unit::Ns, nsOf(a.stepStats.worstNs), nsOf(b.stepStats.worstNs) });
}

std::optional<double> lastOf(const RunAnalysis& run, SeriesKind kind)
{
    const Series* series = findSeries(run.series, kind);
    return series ? std::optional(series->samples.back().value) : std::nullopt;
}

std::optional<double> hiddenShare(const RunAnalysis& run)
{
    double communicationNs = 0;
    double overlapNs = 0;
    for (const RankAnalysis& rank : run.ranks) {
        communicationNs += static_cast<double>(rank.overlap.communicationNs);
        overlapNs += static_cast<double>(rank.overlap.overlapNs);
    }
    return communicationNs > 0 ? std::optional(overlapNs / communicationNs) : std::nullopt;
}

void addShares(std::vector<Difference>& rows, const RunAnalysis& a, const RunAnalysis& b)
{
    const auto useful = [](const RunAnalysis& run) -> std::optional<double> {
        if (!run.usefulFlops || !run.capacityFlops)
            return std::nullopt;
        return *run.usefulFlops / *run.capacityFlops;
    };
    rows.push_back({ "useful, of theoretical compute", Unit::Share, useful(a), useful(b) });
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> byName;
    std::vector<std::string> order;
    const auto collect = [&](const RunAnalysis& run, std::int64_t std::pair<std::int64_t, std::int64_t>::*side) {
        for (const Leaf& leaf : leavesInWords(run.total)) {
            if (byName.try_emplace(leaf.name).second)
                order.push_back(leaf.name);
            byName[leaf.name].*side = leaf.ns;
        }
    };
    collect(a, &std::pair<std::int64_t, std::int64_t>::first);
    collect(b, &std::pair<std::int64_t, std::int64_t>::second);
    auto stepsA = sharesBySteps(a), stepsB = sharesBySteps(b);
    for (const std::string& name : order) {
        const auto [nsA, nsB] = byName[name];
        rows.push_back(
            { fmt::format("{}, share of {}", name, a.capacityWord()), Unit::Share, a.shareOf(nsA), b.shareOf(nsB) });
        addSpread(rows.back(), stepsA[name], stepsB[name]);
    }
    rows.push_back({ "hidden, share of communication", Unit::Share, hiddenShare(a), hiddenShare(b) });
}

std::map<std::string, double> kernelNsPerStep(const RunAnalysis& run)
{
    std::map<std::string, double> perStep;
    const double steps = std::max<double>(1, static_cast<double>(run.steps.size()));
    for (const KernelRow& row : run.kernels)
        perStep[row.name] += static_cast<double>(row.totalNs) / steps;
    return perStep;
}

void addKernels(std::vector<Difference>& rows, const RunAnalysis& a, const RunAnalysis& b)
{
    const auto inA = kernelNsPerStep(a);
    const auto inB = kernelNsPerStep(b);
    std::vector<Difference> kernels;
    const auto find = [](const std::map<std::string, double>& perStep, const std::string& name) {
        const auto found = perStep.find(name);
        return found == perStep.end() ? std::nullopt : std::optional(found->second);
    };
    for (const auto& [name, ns] : inA)
        kernels.push_back({ name, Unit::Ns, ns, find(inB, name) });
    for (const auto& [name, ns] : inB) {
        if (!inA.contains(name))
            kernels.push_back({ name, Unit::Ns, std::nullopt, ns });
    }
    const auto change = [](const Difference& row) { return std::abs(row.b.value_or(0) - row.a.value_or(0)); };
    std::stable_sort(kernels.begin(), kernels.end(),
        [&](const Difference& x, const Difference& y) { return change(x) > change(y); });
    kernels.resize(std::min(kernels.size(), kKernels));
    for (Difference& kernel : kernels) {
        kernel.what = fmt::format("kernel {}, per step", kernel.what);
        rows.push_back(kernel);
    }
}

void addCollectives(std::vector<Difference>& rows, const RunAnalysis& a, const RunAnalysis& b)
{
    for (const CollectiveRow& row : a.collectives) {
        const auto same = std::find_if(b.collectives.begin(), b.collectives.end(),
            [&](const CollectiveRow& other) { return other.op == row.op && other.dimension == row.dimension; });
        if (same != b.collectives.end()) {
            rows.push_back({ fmt::format("busbw GB/s, {} in {}", toString(row.op), toString(row.dimension)), Unit::GBps,
                row.busbwGBps, same->busbwGBps });
        }
    }
}

std::string cell(const std::optional<double>& value, Unit unit)
{
    if (!value)
        return "-";
    switch (unit) {
    case Unit::Share:
        return shareText(*value);
    case Unit::Ns:
        return timeText(std::llround(*value));
    case Unit::PerSecond:
        return countText(std::llround(*value));
    case Unit::Nats:
        return fmt::format("{:.3f}", *value);
    case Unit::GBps:
        break;
    }
    return gbpsText(*value);
}

/// Shares and losses change by an amount, everything else by a factor.
std::string changeOf(const Difference& row)
{
    if (!row.a || !row.b)
        return "-";
    const double change = *row.b - *row.a;
    if (row.unit == Unit::Share)
        return std::abs(change) < 0.0005 ? "no change" : fmt::format("{:+.1f} points", 100 * change);
    if (row.unit == Unit::Nats)
        return std::abs(change) < 0.0005 ? "no change" : fmt::format("{:+.3f}", change);
    return changeText(*row.b, *row.a);
}

std::string_view unitWord(Unit unit)
{
    switch (unit) {
    case Unit::Share:
        return "share";
    case Unit::Ns:
        return "ns";
    case Unit::PerSecond:
        return "1/s";
    case Unit::Nats:
        return "nats";
    case Unit::GBps:
        break;
    }
    return "GB/s";
}

} // namespace

std::vector<Difference> differences(const RunAnalysis& a, const RunAnalysis& b)
{
    std::vector<Difference> rows;
    addSteps(rows, a, b);
    rows.push_back({ "tokens a second, last", Unit::PerSecond, lastOf(a, SeriesKind::TokensPerSecond),
        lastOf(b, SeriesKind::TokensPerSecond) });
    rows.push_back({ "loss, last", Unit::Nats, lastOf(a, SeriesKind::Loss), lastOf(b, SeriesKind::Loss) });
    rows.push_back(
        { "held-out loss, last", Unit::Nats, lastOf(a, SeriesKind::HeldOutLoss), lastOf(b, SeriesKind::HeldOutLoss) });
    addShares(rows, a, b);
    addCollectives(rows, a, b);
    addKernels(rows, a, b);
    std::erase_if(rows, [](const Difference& row) { return !row.a && !row.b; });
    return rows;
}

namespace {

/// The spread beside its figure, without the unit that the figure has already said for shares.
std::string spreadText(const std::optional<double>& spread, Unit unit)
{
    if (!spread)
        return "";
    return "± " + (unit == Unit::Share ? fmt::format("{:.1f}", 100 * *spread) : cell(spread, unit));
}

std::string tableOf(const std::vector<Difference>& rows)
{
    TextTable table({ { "", TextTable::Align::Left }, { "A" }, { "spread" }, { "B" }, { "spread" }, { "B against A" },
        { "", TextTable::Align::Left } });
    for (const Difference& row : rows)
        table.add({ row.what, cell(row.a, row.unit), spreadText(row.spreadA, row.unit), cell(row.b, row.unit),
            spreadText(row.spreadB, row.unit), changeOf(row), row.isNoise ? "in the spread" : "" });
    return table.text(56);
}

/// Narrow: what all shares are of stands above them, and noise in the place of a change that means nothing.
std::string narrowTableOf(const std::vector<Difference>& rows, std::string_view whole)
{
    constexpr std::size_t kWidest = 36;
    const std::string shareOf = fmt::format(", share of {}", whole);
    TextTable table({ { fmt::format("shares of {}", whole), TextTable::Align::Left }, { "A" }, { "spread" }, { "B" },
        { "spread" }, { "B against A" } });
    for (const Difference& row : rows) {
        std::string what = row.what;
        if (what.ends_with(shareOf))
            what.resize(what.size() - shareOf.size());
        table.add({ what, cell(row.a, row.unit), spreadText(row.spreadA, row.unit), cell(row.b, row.unit),
            spreadText(row.spreadB, row.unit), row.isNoise ? "in the spread" : changeOf(row) });
    }
    return table.text(kWidest);
}

} // namespace

std::string differenceText(const RunAnalysis& a, const RunAnalysis& b)
{
    return fmt::format("A  {}\nB  {}\n\n{}", runLine(a), runLine(b), tableOf(differences(a, b)));
}

std::string differenceBrief(const RunAnalysis& a, const RunAnalysis& b)
{
    constexpr std::size_t kOtherLines = 3; // the two runs and the table's head
    std::vector<Difference> rows = differences(a, b);
    // Leaves that neither run has much of tell nothing.
    std::erase_if(rows, [](const Difference& row) {
        return row.unit == Unit::Share && row.a.value_or(0) < 0.001 && row.b.value_or(0) < 0.001;
    });
    rows.resize(std::min(rows.size(), kBriefLines - kOtherLines));
    const std::string whole
        = fmt::format("A  {}\nB  {}\n{}", runLine(a), runLine(b), narrowTableOf(rows, a.capacityWord()));
    std::string text;
    for (std::size_t begin = 0, end = 0; (end = whole.find('\n', begin)) != std::string::npos; begin = end + 1)
        text += cutToWidth(std::string_view(whole).substr(begin, end - begin), kBriefColumns) + '\n';
    return text;
}

std::string differenceJson(const RunAnalysis& a, const RunAnalysis& b)
{
    JsonWriter json;
    json.beginObject();
    json.member("schema", 1);
    json.key("runs").beginArray();
    json.value(a.facts.run.name).value(b.facts.run.name);
    json.endArray();
    json.key("differences").beginArray();
    for (const Difference& row : differences(a, b)) {
        json.beginObject();
        json.member("what", row.what);
        json.member("unit", unitWord(row.unit));
        json.member("a", row.a);
        json.member("b", row.b);
        json.member("spread_a", row.spreadA);
        json.member("spread_b", row.spreadB);
        json.member("in_the_spread", row.isNoise);
        json.endObject();
    }
    json.endArray();
    json.endObject();
    return json.text();
}

} // namespace rankscope::tracing
