#include "tracing/export/report_text.h"

#include "tracing/analysis/wording.h"
#include "tracing/export/leaves.h"
#include "tracing/export/path_report.h"
#include "tracing/export/pop_report.h"
#include "tracing/export/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kReportColumns = 100;
constexpr std::size_t kTopKernels = 12;
using Align = TextTable::Align;

std::string clockText(const RunAnalysis& run)
{
    std::int64_t errorNs = 0;
    for (const RankInfo& rank : run.facts.ranks)
        errorNs = std::max(errorNs, rank.clockErrorNs);
    return errorNs == 0 ? std::string("one clock")
                        : fmt::format("clock ±{:.3f} ms", static_cast<double>(errorNs) / 1e6);
}

std::string shareOfWindow(std::int64_t ns, const TimeSplit& split)
{
    return split.windowNs > 0 ? shareText(static_cast<double>(ns) / static_cast<double>(split.windowNs)) : "-";
}

/// A column of the rank table; those that always count are shown also where all ranks have none.
struct RankColumn {
    const char* title;
    bool always;
    std::int64_t (*ns)(const TimeSplit&);
};

std::string rankTable(const RunAnalysis& run)
{
    static constexpr RankColumn kColumns[]{
        { "compute", true, [](const TimeSplit& s) { return s.computeNs; } },
        { "transfer", true, [](const TimeSplit& s) { return s.transferNs; } },
        { "wait", true, [](const TimeSplit& s) { return s.waitNs; } },
        { "host", false, [](const TimeSplit& s) { return s.hostNs; } },
        { "launch", false, [](const TimeSplit& s) { return s.gapNs(); } },
        { "bubble", false, [](const TimeSplit& s) { return s.bubbleNs(); } },
        { "imbal.", false, [](const TimeSplit& s) { return s.imbalanceNs; } },
        { "desched.", false, [](const TimeSplit& s) { return s.descheduledNs; } },
        { "data", false, [](const TimeSplit& s) { return s.dataNs; } },
        { "chkpt", false, [](const TimeSplit& s) { return s.checkpointNs; } },
        { "other", false,
            [](const TimeSplit& s) { return s.unsplitNs + s.copyNs + s.startNs + s.plannedNs + s.lostNs + s.downNs; } },
        { "unattr.", true, [](const TimeSplit& s) { return s.unattributedNs(); } },
    };
    std::vector<TextTable::Column> columns{ { "rank" } };
    const bool hasStages
        = std::ranges::any_of(run.ranks, [](const RankAnalysis& rank) { return rank.info.stage.has_value(); });
    if (hasStages)
        columns.push_back({ "stage" });
    std::vector<const RankColumn*> shown;
    for (const RankColumn& column : kColumns) {
        if (column.always || column.ns(run.total) > 0) {
            shown.push_back(&column);
            columns.push_back({ column.title });
        }
    }
    columns.push_back({ "hidden" });
    TextTable table(columns);
    for (const RankAnalysis& rank : run.ranks) {
        std::vector<std::string> cells{ fmt::format("{}", rank.info.rank) };
        if (hasStages)
            cells.push_back(rank.info.stage ? fmt::format("{}", *rank.info.stage) : "-");
        for (const RankColumn* column : shown) {
            const std::int64_t ns = column->ns(rank.split);
            cells.push_back(ns == 0 ? std::string("-") : shareOfWindow(ns, rank.split));
        }
        const auto hidden = rank.overlap.overlapShare();
        cells.push_back(hidden ? shareText(*hidden) : "-");
        table.add(cells);
    }
    return "Ranks: shares of each rank's time; hidden = communication under compute\n" + table.text();
}

std::string stepText(const RunAnalysis& run)
{
    if (run.stepStats.count == 0)
        return {};
    std::string text
        = fmt::format("Step time: {} on average, p95 {}, worst {} (step {})", timeText(run.stepStats.meanNs),
            timeText(run.stepStats.p95Ns), timeText(run.stepStats.worstNs), run.stepStats.worstStep);
    if (const Series* loss = findSeries(run.series, SeriesKind::Loss)) {
        text += fmt::format(
            "\nLoss: {:.3f} at first, {:.3f} at last", loss->samples.front().value, loss->samples.back().value);
        if (const Series* heldOut = findSeries(run.series, SeriesKind::HeldOutLoss))
            text += fmt::format(", held-out {:.3f}", heldOut->samples.back().value);
    }
    return text + "\n";
}

std::string collectiveTableText(const RunAnalysis& run)
{
    TextTable table({ { "collective", Align::Left }, { "in", Align::Left }, { "count" }, { "bytes" }, { "wait" },
        { "transfer" }, { "algbw GB/s" }, { "busbw GB/s" }, { "late", Align::Left } });
    for (const CollectiveRow& row : run.collectives) {
        table.add({ std::string(toString(row.op)), std::string(toString(row.dimension)), countText(row.count),
            bytesText(row.bytes), timeText(row.waitNs), timeText(row.transferNs), gbpsText(row.algbwGBps),
            gbpsText(row.busbwGBps), row.lateRank ? fmt::format("rank {}, {}x", *row.lateRank, row.lateCount) : "-" });
    }
    return table.empty() ? std::string() : "Collectives: wait and transfer summed over ranks\n" + table.text();
}

std::string kernelTableText(const RunAnalysis& run)
{
    TextTable table(
        { { "kernel", Align::Left }, { "family", Align::Left }, { "count" }, { "total" }, { "share" }, { "FLOP/s" } });
    for (std::size_t i = 0; i < std::min(run.kernels.size(), kTopKernels); ++i) {
        const KernelRow& row = run.kernels[i];
        table.add({ row.shortName, std::string(toString(row.family)), countText(row.count), timeText(row.totalNs),
            shareText(row.share), row.flops ? rateText(*row.flops, "FLOP") : "-" });
    }
    if (table.empty())
        return {};
    const std::string more = run.kernels.size() > kTopKernels
        ? fmt::format("Top {} of {} kernels\n", kTopKernels, run.kernels.size())
        : std::string("Kernels\n");
    return more + table.text();
}

std::string findingLines(const RunAnalysis& run)
{
    std::string text = "Findings\n";
    for (const Finding& finding : run.findings) {
        const std::string cost = finding.costShare ? shareText(*finding.costShare) : std::string("-");
        text += fmt::format("{:>8}  {}\n", cost, finding.title);
        const auto add = [&](const std::string& sentence) {
            for (const std::string& line : wrapped(sentence, kReportColumns - 10))
                text += fmt::format("          {}\n", line);
        };
        add(finding.text);
        if (!finding.action.empty())
            add("try: " + finding.action);
        if (!finding.gain.empty())
            add("gain: " + finding.gain);
        if (!finding.certainty.empty() && finding.certainty != "certain")
            add("certain: " + finding.certainty);
    }
    return text;
}

/// What the run's own rules have said while it went on.
std::string alertLines(const RunAnalysis& run)
{
    if (run.facts.alerts.empty())
        return {};
    std::string text = "Alerts while the run went on\n";
    for (const LiveAlert& alert : run.facts.alerts) {
        for (const std::string& line : wrapped(alert.title, kReportColumns - 2))
            text += fmt::format("  {}\n", line);
        for (const std::string& line : wrapped(alertDetail(alert, run.facts.window), kReportColumns - 10))
            text += fmt::format("          {}\n", line);
    }
    return text;
}

std::string headlineText(const RunAnalysis& run)
{
    if (run.headline.bigCaption.empty())
        return {};
    std::string text = fmt::format("{}  {}", shareText(run.headline.bigShare), run.headline.bigCaption);
    if (!run.headline.bigHint.empty())
        text += fmt::format(" ({})", run.headline.bigHint);
    text += '\n';
    for (const std::string& line : { run.headline.sentence, run.headline.cause, run.headline.gain }) {
        for (const std::string& part : wrapped(line, kReportColumns))
            text += part + '\n';
    }
    return text;
}

std::string sumText(const RunAnalysis& run)
{
    double seconds = static_cast<double>(run.capacityNs()) / 1e9;
    const char* unit = "rank-seconds";
    if (seconds < 1) {
        seconds *= 1e3;
        unit = "rank-ms";
    }
    return fmt::format(
        "sum {} = {:.{}f} {}", shareText(run.capacityNs() > 0 ? 1 : 0), seconds, seconds < 10 ? 2 : 1, unit);
}

/// Whom the waiting is for: "76 % of it for rank 7, 13 % for rank 5".
std::string awaitedText(const RunAnalysis& run)
{
    constexpr std::size_t kNamed = 3;
    std::vector<std::pair<std::int64_t, std::int32_t>> waits;
    for (const Lateness& late : run.late)
        waits.emplace_back(late.waitNs, late.rank);
    std::ranges::stable_sort(waits, std::ranges::greater(), [](const auto& wait) { return wait.first; });
    const double all = static_cast<double>(std::max<std::int64_t>(1, run.total.awaitingNs()));
    std::string text;
    for (std::size_t i = 0; i < std::min(waits.size(), kNamed); ++i) {
        const double percent = 100 * static_cast<double>(waits[i].first) / all;
        if (percent < 1)
            break;
        text += fmt::format("{}{:.0f} %{} for rank {}", i ? ", " : "", percent, i ? "" : " of it", waits[i].second);
    }
    return text;
}

std::string remarkOn(const RunAnalysis& run, const std::string& leaf)
{
    if (leaf == "waiting for others")
        return awaitedText(run);
    const auto found = std::ranges::find_if(run.findings, [&](const Finding& finding) {
        return (leaf == "host late" && finding.title.starts_with("Hosts launch too late"))
            || (leaf == "transfer" && finding.title == "The network is not the problem");
    });
    if (found == run.findings.end())
        return {};
    if (leaf == "transfer")
        return "the network is not the problem";
    const std::size_t clause = found->text.rfind(" · ");
    return clause == std::string::npos ? std::string() : found->text.substr(clause + 4);
}

/// Leaves by size; small ones share the last line, so that everything is on the page and sums up.
std::vector<std::string> leafLines(const RunAnalysis& run)
{
    constexpr double kOwnLine = 0.01;
    std::vector<Leaf> leaves = leavesInWords(run.total);
    const bool shared = run.sharedCores().has_value();
    if (shared)
        std::erase_if(leaves, [](const Leaf& leaf) { return leaf.name == "descheduled"; });
    std::stable_sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) { return a.ns > b.ns; });
    std::vector<std::string> lines;
    std::string small;
    for (const Leaf& leaf : leaves) {
        const double share = run.shareOf(leaf.ns);
        if (share >= kOwnLine && lines.size() < 9) {
            const std::string of = lines.empty() ? fmt::format(" of {}", run.capacityWord()) : std::string();
            const std::string remark = remarkOn(run, leaf.name);
            lines.push_back(
                fmt::format("{:<22}{:>8}{}{}{}", leaf.name, shareText(share), of, remark.empty() ? "" : "   ", remark));
        } else {
            small += fmt::format("{}{} {}", small.empty() ? "" : ", ", leaf.name, shareText(share));
        }
    }
    if (shared)
        small += fmt::format("{}outside: descheduled {} of all rank time", small.empty() ? "" : "; ",
            shareOfWindow(run.total.descheduledNs, run.total));
    for (std::string& line : wrapped(small, kBriefColumns))
        lines.push_back(std::move(line));
    lines.push_back(sumText(run));
    return lines;
}

/// As much of the text as fits, whole clauses.
std::string fitting(std::string text, std::string_view separator, std::size_t columns)
{
    while (!text.empty() && textWidth(text) > columns) {
        const std::size_t clause = text.rfind(separator);
        text = clause == std::string::npos ? std::string() : text.substr(0, clause);
    }
    return text;
}

/// One line: title, cost, and what to try or else the figures, as far as they fit beside them.
std::string findingLine(int number, const Finding& finding)
{
    constexpr std::size_t kTitle = 50;
    const std::string title = cutToWidth(fmt::format("{} {}", number, finding.title), kTitle);
    const std::string padding(kTitle + 1 - textWidth(title), ' ');
    const std::string cost = finding.costShare ? shareText(*finding.costShare) : std::string("-");
    const std::string line = fmt::format("{}{}{:>8}", title, padding, cost);
    const std::size_t left = kBriefColumns - textWidth(line) - 2;
    constexpr std::string_view kTry = "try: ";
    std::string more = fitting(finding.action, ", ", left - kTry.size());
    if (more.empty())
        more = fitting(finding.action, ": ", left - kTry.size());
    if (!more.empty())
        more.insert(0, kTry);
    else
        more = fitting(finding.text, " · ", left);
    return more.empty() ? line : line + "  " + more;
}

/// The first alerts, a line each, and how many more there are.
std::vector<std::string> briefAlerts(const RunAnalysis& run)
{
    constexpr std::size_t kShown = 2;
    const auto& alerts = run.facts.alerts;
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < std::min(kShown, alerts.size()); ++i) {
        const std::string line
            = fmt::format("alert at {}: {}", alertTimeText(alerts[i], run.facts.window), alerts[i].title);
        const std::string whole = fitting(line, "; ", kBriefColumns);
        lines.push_back(whole.empty() ? line : whole);
    }
    if (alerts.size() > kShown)
        lines.push_back(plural(std::ssize(alerts) - std::ssize(lines), "more alert"));
    return lines;
}

/// Without the maker's name: that is what the columns have room for.
std::string shortDevice(std::string device)
{
    for (const std::string_view maker : { "NVIDIA ", "Tesla ", "AMD " }) {
        if (device.starts_with(maker))
            device.erase(0, maker.size());
    }
    return device;
}

} // namespace

std::string runLine(const RunAnalysis& run)
{
    std::string device = run.facts.ranks.empty() ? std::string() : shortDevice(run.facts.ranks.front().device);
    if (!device.empty())
        device += ", ";
    return fmt::format("{}: {} of {}, {}, {}{}, {}", run.facts.run.name, run.facts.ranks.size(),
        plural(run.facts.run.worldSize, "rank"), stepsText(run.steps, run.allSteps), device,
        sourceName(run.facts.run.source), clockText(run));
}

std::string reportText(const RunAnalysis& run)
{
    std::string text = runLine(run) + "\n\n" + headlineText(run);
    for (const std::string& section : { rankTable(run), popText(run.pop), pathText(run), stepText(run),
             collectiveTableText(run), kernelTableText(run), alertLines(run), findingLines(run) }) {
        if (!section.empty())
            text += "\n" + section;
    }
    return text;
}

std::string briefText(const RunAnalysis& run, std::string_view path)
{
    std::vector<std::string> lines{ runLine(run) };
    std::string headline = headlineText(run);
    for (std::size_t end = 0; (end = headline.find('\n')) != std::string::npos; headline.erase(0, end + 1))
        lines.push_back(headline.substr(0, end));
    for (const std::string& line : leafLines(run))
        lines.push_back(line);
    for (const std::string& line : briefAlerts(run)) {
        if (lines.size() + 1 < kBriefLines)
            lines.push_back(line);
    }
    int number = 0;
    for (const Finding& finding : run.findings) {
        if (lines.size() + 1 >= kBriefLines)
            break;
        lines.push_back(findingLine(++number, finding));
    }
    std::string text;
    for (const std::string& line : lines)
        text += cutToWidth(line, kBriefColumns) + '\n';
    // A command that is cut off is of no use to anybody.
    const std::string open = fmt::format("rankscope open {}", path);
    return text + (textWidth(open) <= kBriefColumns ? open + '\n' : std::string());
}

} // namespace rankscope::tracing
