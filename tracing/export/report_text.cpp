#include "tracing/export/report_text.h"

#include "tracing/analysis/wording.h"
#include "tracing/export/leaves.h"
#include "tracing/export/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kReportColumns = 100;
constexpr std::size_t kTopKernels = 12;
using Align = TextTable::Align;

std::string stepsText(const RunAnalysis& run)
{
    if (run.steps.empty())
        return "no steps";
    const std::int64_t first = run.steps.front().step;
    const std::int64_t last = run.steps.back().step;
    const std::string which = first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    return fmt::format("{} ({})", plural(std::ssize(run.steps), "step"), which);
}

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

std::string rankTable(const RunAnalysis& run)
{
    TextTable table({ { "rank" }, { "stage" }, { "compute" }, { "transfer" }, { "wait" }, { "bubble" }, { "desched." },
        { "data" }, { "chkpt" }, { "other" }, { "idle" }, { "hidden" } });
    for (const RankAnalysis& rank : run.ranks) {
        const TimeSplit& split = rank.split;
        const auto share = [&](std::int64_t ns) { return ns == 0 ? std::string("-") : shareOfWindow(ns, split); };
        const std::int64_t otherNs
            = split.unsplitNs + split.copyNs + split.startNs + split.plannedNs + split.kernelGapNs;
        const auto hidden = rank.overlap.overlapShare();
        table.add({ fmt::format("{}", rank.info.rank), rank.info.stage ? fmt::format("{}", *rank.info.stage) : "-",
            share(split.computeNs), share(split.transferNs), share(split.waitNs), share(split.bubbleNs()),
            share(split.descheduledNs), share(split.dataNs), share(split.checkpointNs), share(otherNs),
            share(split.idleNs), hidden ? shareText(*hidden) : "-" });
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
            bytesText(row.bytes), timeText(row.waitNs), timeText(row.transferNs), fmt::format("{:.3f}", row.algbwGBps),
            fmt::format("{:.3f}", row.busbwGBps),
            row.lateRank ? fmt::format("rank {}, {}x", *row.lateRank, row.lateCount) : "-" });
    }
    return table.empty() ? std::string() : "Collectives: wait and transfer summed over ranks\n" + table.text();
}

std::string kernelTableText(const RunAnalysis& run)
{
    TextTable table({ { "kernel", Align::Left }, { "count" }, { "total" }, { "share" }, { "FLOP/s" } });
    for (std::size_t i = 0; i < std::min(run.kernels.size(), kTopKernels); ++i) {
        const KernelRow& row = run.kernels[i];
        table.add({ row.name, countText(row.count), timeText(row.totalNs), shareText(row.share),
            row.flops ? rateText(*row.flops, "FLOP") : "-" });
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
        for (const std::string& line : wrapped(finding.text, kReportColumns - 10))
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
    for (const std::string& line : { run.headline.sentence, run.headline.cause }) {
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
        if (share >= kOwnLine && lines.size() < 9)
            lines.push_back(fmt::format("{:<22}{:>8}{}", leaf.name, shareText(share),
                lines.empty() ? fmt::format(" of {}", run.capacityWord()) : std::string()));
        else
            small += fmt::format("{}{} {}", small.empty() ? "" : ", ", leaf.name, shareText(share));
    }
    if (shared)
        small += fmt::format("{}outside: descheduled {} of all {}", small.empty() ? "" : "; ",
            shareOfWindow(run.total.descheduledNs, run.total), run.capacityWord());
    for (std::string& line : wrapped(small, kBriefColumns))
        lines.push_back(std::move(line));
    lines.push_back(sumText(run));
    return lines;
}

/// One line: title, cost, and what of the figures fits beside them.
std::string findingLine(int number, const Finding& finding)
{
    const std::string title = cutToWidth(fmt::format("{} {}", number, finding.title), 60);
    const std::string padding(62 - textWidth(title), ' ');
    const std::string cost = finding.costShare ? shareText(*finding.costShare) : std::string("-");
    const std::string line = fmt::format("{}{}{:>8}", title, padding, cost);
    for (std::string text = finding.text; !text.empty();) {
        if (textWidth(line) + 2 + textWidth(text) <= kBriefColumns)
            return line + "  " + text;
        const std::size_t clause = text.rfind(" · ");
        text = clause == std::string::npos ? std::string() : text.substr(0, clause);
    }
    return line;
}

} // namespace

std::string runLine(const RunAnalysis& run)
{
    std::string device = run.facts.ranks.empty() ? std::string() : run.facts.ranks.front().device;
    if (!device.empty())
        device += ", ";
    return fmt::format("{}: {} of {}, {}, {}{}, {}", run.facts.run.name, run.facts.ranks.size(),
        plural(run.facts.run.worldSize, "rank"), stepsText(run), device, run.facts.run.source, clockText(run));
}

std::string reportText(const RunAnalysis& run)
{
    std::string text = runLine(run) + "\n\n" + headlineText(run);
    for (const std::string& section :
        { rankTable(run), stepText(run), collectiveTableText(run), kernelTableText(run), findingLines(run) }) {
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
    int number = 0;
    for (const Finding& finding : run.findings) {
        if (lines.size() + 1 >= kBriefLines)
            break;
        lines.push_back(findingLine(++number, finding));
    }
    lines.push_back(fmt::format("rankscope open {}", path));
    std::string text;
    for (const std::string& line : lines)
        text += cutToWidth(line, kBriefColumns) + '\n';
    return text;
}

} // namespace rankscope::tracing
