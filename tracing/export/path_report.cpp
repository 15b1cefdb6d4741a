#include "tracing/export/path_report.h"

#include "tracing/analysis/wording.h"
#include "tracing/export/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kMostLines = 8;
constexpr std::size_t kRanksNamed = 3;

std::int64_t lengthOf(const RunAnalysis& run)
{
    std::int64_t ns = 0;
    for (const PathShare& share : run.path)
        ns += share.ns;
    return ns;
}

std::string nameOf(const PathShare& share)
{
    std::string name(toString(share.label));
    return share.dimension == Dimension::None ? name : name + " " + std::string(toString(share.dimension));
}

struct Line {
    std::string name;
    std::int64_t ns = 0;
    std::vector<const PathShare*> ranks; ///< most first
};

std::vector<Line> linesOf(const RunAnalysis& run)
{
    std::vector<Line> lines;
    for (const PathShare& share : run.path) {
        const std::string name = nameOf(share);
        auto line = std::ranges::find(lines, name, &Line::name);
        if (line == lines.end())
            line = lines.insert(line, Line{ name, 0, {} });
        line->ns += share.ns;
        line->ranks.push_back(&share);
    }
    std::ranges::stable_sort(lines, std::ranges::greater(), &Line::ns);
    return lines;
}

/// "rank 1 30.0 %, rank 0 12.5 %, 2 more"
std::string ranksOf(const Line& line, double length)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(kRanksNamed, line.ranks.size()); ++i) {
        const PathShare& share = *line.ranks[i];
        text += fmt::format(
            "{}rank {} {}", i ? ", " : "", share.rank, shareText(static_cast<double>(share.ns) / length));
    }
    if (line.ranks.size() > kRanksNamed)
        text += fmt::format(", {} more", line.ranks.size() - kRanksNamed);
    return text;
}

} // namespace

void writePath(JsonWriter& json, const RunAnalysis& run)
{
    const auto length = static_cast<double>(lengthOf(run));
    json.key("critical_path").beginArray();
    for (const PathShare& share : run.path) {
        json.beginObject().member("rank", share.rank).member("label", toString(share.label));
        json.key("dimension");
        share.dimension == Dimension::None ? json.null() : json.value(toString(share.dimension));
        json.member("ns", share.ns).member("share", static_cast<double>(share.ns) / length).endObject();
    }
    json.endArray();
}

std::string pathText(const RunAnalysis& run)
{
    const std::int64_t length = lengthOf(run);
    if (length <= 0 || run.ranks.size() < 2)
        return {};
    const auto steps = std::max<std::int64_t>(1, std::ssize(run.steps));
    TextTable table({ { "on it", TextTable::Align::Left }, { "share" }, { run.steps.empty() ? "time" : "time a step" },
        { "spent on", TextTable::Align::Left } });
    const std::vector<Line> lines = linesOf(run);
    std::int64_t rest = length;
    for (std::size_t i = 0; i < std::min(kMostLines, lines.size()); ++i) {
        const Line& line = lines[i];
        rest -= line.ns;
        table.add({ line.name, shareText(static_cast<double>(line.ns) / static_cast<double>(length)),
            timeText(line.ns / steps), ranksOf(line, static_cast<double>(length)) });
    }
    if (rest > 0)
        table.add({ "all else", shareText(static_cast<double>(rest) / static_cast<double>(length)),
            timeText(rest / steps), "" });
    return fmt::format("Critical path: what the {} of {} rest on; waits lead on to the rank they are for\n",
               timeText(length / steps), run.steps.empty() ? "the run" : "a step")
        + table.text(60);
}

} // namespace rankscope::tracing
