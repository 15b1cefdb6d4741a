#include "app/timeline/core/labels.h"

#include "app/session/palette.h"
#include "app/timeline/core/words.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {

using tracing::SpanClass;

namespace {

std::string withLetter(SpanClass spanClass, const std::string& text)
{
    const LeafStyle& style = leafStyle(leafOf(spanClass), Theme::Dark); // letters are the same in both themes
    return std::string(1, style.letter) + " " + text;
}

bool hasLetter(const SpanRecord& span)
{
    if (span.row == RowKind::Ledger)
        return true;
    switch (span.spanClass) {
    case SpanClass::Compute:
    case SpanClass::Optimizer:
        return false;
    case SpanClass::Host:
        return false; // on its own lane a host range just ran
    default:
        return true;
    }
}

std::string waitingFor(const SpanRecord& span)
{
    const std::optional<std::int32_t> rank = span.row == RowKind::Ledger ? span.peer : span.lateRank;
    return rank ? " waiting for rank " + std::to_string(*rank) : std::string();
}

void addCounts(const SpanRecord& span, std::vector<std::string>& lines)
{
    const double seconds = static_cast<double>(span.durationNs()) / 1e9;
    std::string text;
    if (span.flop && seconds > 0)
        text = rateText(static_cast<double>(*span.flop) / seconds, "FLOP/s");
    if (span.bytes && *span.bytes > 0) {
        text += (text.empty() ? "" : "   ") + bytesText(*span.bytes);
        if (span.row == RowKind::Kernel && seconds > 0)
            text += "   " + rateText(static_cast<double>(*span.bytes) / seconds, "B/s");
    }
    if (!text.empty())
        lines.push_back(text);
    if (span.cpuNs && span.durationNs() > 0)
        lines.push_back(durationText(*span.cpuNs) + " CPU time");
}

void addPlace(const SpanRecord& span, std::vector<std::string>& lines)
{
    std::string text;
    if (span.step)
        text = "step " + std::to_string(*span.step);
    if (span.pass != tracing::Pass::None)
        text += (text.empty() ? "" : ", ") + std::string(toString(span.pass));
    if (span.microBatch)
        text += (text.empty() ? "" : ", ") + ("micro-batch " + std::to_string(*span.microBatch));
    if (!text.empty())
        lines.push_back(text);
}

void addCause(const SpanRecord& span, std::vector<std::string>& lines)
{
    if (span.overCommunication)
        lines.push_back("communication is hidden under it");
    if ((span.row == RowKind::Bubble || span.row == RowKind::Ledger) && span.peer)
        lines.push_back("waits for rank " + std::to_string(*span.peer));
    if (span.row != RowKind::Collective)
        return;
    if (!span.matched) {
        lines.push_back("wait and transfer cannot be told apart: not all ranks' parts are known");
        return;
    }
    lines.push_back(
        "wait " + durationText(span.splitNs - span.beginNs) + "   transfer " + durationText(span.endNs - span.splitNs));
    if (span.lateRank)
        lines.push_back("rank " + std::to_string(*span.lateRank) + " entered last, " + durationText(span.lateNs)
            + " after the first");
}

std::vector<std::string> foldLines(const FoldRecord& fold)
{
    std::string text = fold.count == 1 ? "1 span" : std::to_string(fold.count) + " spans";
    if (fold.count == 0)
        text = "inside a longer span";
    text += ", " + percentText(fold.fullness()) + " full";
    if (fold.longestEndNs > fold.longestBeginNs)
        text += ", longest " + durationText(fold.longestEndNs - fold.longestBeginNs);
    const LeafStyle& style = leafStyle(leafOf(fold.cover), Theme::Dark);
    return { text, "mostly " + std::string(style.word) + "; zoom in to see each" };
}

/// As on a label: kernels by their short names.
std::string shownName(const SpanRecord& span, const RunFacts& facts)
{
    const bool kernel = span.row == RowKind::Kernel || span.row == RowKind::Collective;
    const std::string& name = facts.shortName(span.name);
    return kernel && !name.empty() && span.spanClass != SpanClass::Bubble ? name : spanName(span, facts);
}

} // namespace

std::string spanName(const SpanRecord& span, const RunFacts& facts)
{
    if (span.spanClass == SpanClass::Bubble)
        return "bubble, " + std::string(toString(span.phase));
    if (const std::string& name = facts.name(span.name); !name.empty())
        return name;
    if (span.row == RowKind::Collective)
        return std::string(toString(span.op));
    return std::string(leafStyle(leafOf(span.spanClass), Theme::Dark).word);
}

Wordings waitLabel(const SpanRecord& span)
{
    const std::int64_t endNs = span.row == RowKind::Ledger ? span.endNs : span.splitNs;
    const std::string time = durationText(endNs - span.beginNs);
    return { withLetter(SpanClass::Wait, time + waitingFor(span)), withLetter(SpanClass::Wait, time), "W" };
}

Wordings transferLabel(const SpanRecord& span)
{
    return { withLetter(SpanClass::Transfer, durationText(span.endNs - span.splitNs)), "T" };
}

Wordings spanLabel(const SpanRecord& span, const RunFacts& facts)
{
    const std::string time = durationText(span.durationNs());
    if (span.row == RowKind::Ledger && span.spanClass == SpanClass::Wait)
        return waitLabel(span);
    if (span.spanClass == SpanClass::Bubble) {
        const std::string phase = withLetter(SpanClass::Bubble, std::string(toString(span.phase)));
        Wordings words{ phase + " " + time, phase, "B" };
        if (span.peer)
            words.insert(words.begin(), words.front() + ", waits for rank " + std::to_string(*span.peer));
        return words;
    }
    const std::string name = shownName(span, facts);
    if (!hasLetter(span))
        return { name + "   " + time, name };
    const std::string text = withLetter(span.spanClass, name);
    return { text + " " + time, text, text.substr(0, 1) };
}

std::vector<std::string> hoverLines(const Hit& hit, const RunFacts& facts)
{
    if (hit.fold)
        return foldLines(*hit.fold);
    if (hit.sample) {
        const CounterRecord& sample = *hit.sample;
        if (sample.low == sample.high)
            return { numberText(sample.last) };
        return { numberText(sample.last), numberText(sample.low) + " to " + numberText(sample.high) + " here" };
    }
    if (!hit.span)
        return {};
    const SpanRecord& span = *hit.span;
    std::vector<std::string> lines{ spanName(span, facts),
        durationText(span.durationNs()) + "   at " + durationText(span.beginNs) };
    addCounts(span, lines);
    addCause(span, lines);
    addPlace(span, lines);
    return lines;
}

std::string counterRange(const LaneContent& content, const std::string& unit)
{
    const auto text
        = [&](double value) { return unit == "bytes" ? bytesText(std::llround(value)) : numberText(value); };
    const std::string low = text(content.lowest);
    const std::string high = text(content.highest);
    return low == high ? low : low + " to " + high;
}

Wordings rankTags(const tracing::RankInfo& rank, std::int64_t lateCount)
{
    std::string text = lateCount > 0 ? "late " + std::to_string(lateCount) + "x" : std::string();
    Wordings words{ text };
    const auto add = [&](const char* what, std::optional<std::int32_t> value) {
        if (!value)
            return;
        text += (text.empty() ? "" : "  ") + std::string(what) + " " + std::to_string(*value);
        words.push_back(text);
    };
    add("pp", rank.stage);
    add("dp", rank.dp);
    add("tp", rank.tp);
    std::ranges::reverse(words);
    return words;
}

std::string laneTitle(const tracing::Lane& lane)
{
    std::string title = lane.name.empty() ? std::string(toString(lane.kind)) : lane.name;
    // A trace may call all its communication the same; what tells it apart is the dimension.
    const std::string_view dimension = toString(lane.dimension);
    if (lane.kind == tracing::LaneKind::Communication && lane.dimension != tracing::Dimension::None
        && title.find(dimension) == std::string::npos)
        title += " " + std::string(dimension);
    return lane.unit.empty() ? title : title + ", " + lane.unit;
}

} // namespace rankscope::app::timeline
