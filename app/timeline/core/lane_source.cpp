#include "app/timeline/core/lane_source.h"

#include "app/timeline/core/fold.h"
#include "app/timeline/core/span_builder.h"

#include <algorithm>
#include <span>
#include <unordered_map>

namespace rankscope::app::timeline {

using tracing::LaneKind;
using tracing::Result;
using tracing::TraceReader;
using tracing::Window;

namespace {

// Above that many spans tiles are read instead of rows; some three times the pixels of a wide screen.
constexpr std::int64_t kMostRows = 6000;
// A span of a tile gets its name by a query of its own, which is worth it only where a label has room.
constexpr double kNamedPx = 12;
constexpr int kMostSubRows = 4;

/// What only waits for its root is split by the root's part, which lies on another rank's lane.
void addRoots(TraceReader& reader, const RunFacts& facts, std::vector<tracing::RankPart>& parts)
{
    constexpr std::size_t mostLookUps = 200;
    const std::size_t own = parts.size();
    for (std::size_t i = 0; i < own && parts.size() < own + mostLookUps; ++i) {
        const tracing::CollectivePart part = parts[i].part;
        const bool rooted = part.op == tracing::CollectiveOp::Broadcast || part.op == tracing::CollectiveOp::Scatter;
        if (!rooted || !part.peer || *part.peer == parts[i].rank)
            continue;
        const auto all = reader.partsOf(part.instance);
        if (!all)
            continue;
        for (const tracing::CollectivePart& other : *all) {
            const auto lane = std::find_if(facts.lanes.begin(), facts.lanes.end(),
                [&](const tracing::Lane& candidate) { return candidate.id == other.lane; });
            if (lane != facts.lanes.end() && lane->rank == *part.peer)
                parts.push_back({ lane->rank, lane->dimension, other });
        }
    }
}

void sortByBegin(std::vector<SpanRecord>& spans)
{
    const auto outerFirst = [](const SpanRecord& a, const SpanRecord& b) {
        return a.beginNs != b.beginNs ? a.beginNs < b.beginNs : a.endNs > b.endNs;
    };
    std::stable_sort(spans.begin(), spans.end(), outerFirst);
}

/// Calls lie one level under the ranges around them; ranges keep the depth they were recorded with.
void nestCalls(std::vector<SpanRecord>& spans)
{
    std::vector<const SpanRecord*> open;
    for (SpanRecord& span : spans) {
        std::erase_if(open, [&](const SpanRecord* outer) { return outer->endNs <= span.beginNs; });
        if (span.row == RowKind::HostCall)
            span.level = open.empty() ? std::int16_t{ 0 } : static_cast<std::int16_t>(open.back()->level + 1);
        open.push_back(&span);
    }
}

template <typename Rows, typename ToSpan> bool append(std::vector<SpanRecord>& spans, const Rows& rows, ToSpan toSpan)
{
    if (!rows)
        return false;
    spans.reserve(spans.size() + rows->size());
    for (const auto& row : *rows)
        spans.push_back(toSpan(row));
    return true;
}

Result<std::vector<SpanRecord>> computeSpans(
    TraceReader& reader, const RunFacts& facts, tracing::LaneId lane, Window window)
{
    std::vector<SpanRecord> spans;
    const auto kernels = reader.kernels(lane, window);
    if (!append(spans, kernels, [&](const tracing::Kernel& row) { return spanOf(row, facts); }))
        return kernels.error();
    const auto bubbles = reader.bubbles(lane, window);
    if (!append(spans, bubbles, [](const tracing::Bubble& row) { return spanOf(row); }))
        return bubbles.error();
    sortByBegin(spans);
    assignLevels(spans, kMostSubRows);
    return spans;
}

Result<std::vector<SpanRecord>> communicationSpans(
    TraceReader& reader, const RunFacts& facts, const tracing::Lane& lane, Window window)
{
    std::vector<SpanRecord> spans;
    const auto rows = reader.collectives(lane.id, window);
    if (!rows)
        return rows.error();
    if (rows->empty())
        return spans;
    const auto matches = reader.matches(window);
    if (!matches)
        return matches.error();
    std::unordered_map<std::int64_t, const tracing::CollectiveMatch*> matchOf;
    for (const tracing::CollectiveMatch& match : *matches)
        matchOf.emplace(raw(match.id), &match);
    std::vector<tracing::RankPart> parts;
    for (const tracing::CollectivePart& row : *rows)
        parts.push_back({ lane.rank, lane.dimension, row });
    addRoots(reader, facts, parts);
    const std::vector<tracing::SplitPart> split = tracing::splitParts(parts, *matches);
    for (std::size_t i = 0; i < rows->size(); ++i) {
        const auto match = matchOf.find(raw((*rows)[i].instance));
        spans.push_back(spanOf((*rows)[i], split[i], match == matchOf.end() ? nullptr : match->second));
    }
    sortByBegin(spans);
    assignLevels(spans, kMostSubRows);
    return spans;
}

Result<std::vector<SpanRecord>> copySpans(TraceReader& reader, tracing::LaneId lane, Window window)
{
    std::vector<SpanRecord> spans;
    const auto copies = reader.copies(lane, window);
    if (!append(spans, copies, [](const tracing::Copy& row) { return spanOf(row); }))
        return copies.error();
    const auto ranges = reader.ranges(lane, window); // imports put waits for a stream there
    if (!append(spans, ranges, [](const tracing::Range& row) { return spanOf(row); }))
        return ranges.error();
    sortByBegin(spans);
    assignLevels(spans, kMostSubRows);
    return spans;
}

Result<std::vector<SpanRecord>> hostSpans(TraceReader& reader, tracing::LaneId lane, Window window)
{
    std::vector<SpanRecord> spans;
    const auto ranges = reader.ranges(lane, window);
    if (!append(spans, ranges, [](const tracing::Range& row) { return spanOf(row); }))
        return ranges.error();
    const auto calls = reader.hostCalls(lane, window);
    if (!append(spans, calls, [](const tracing::HostCall& row) { return spanOf(row); }))
        return calls.error();
    sortByBegin(spans);
    nestCalls(spans);
    return spans;
}

Result<std::vector<SpanRecord>> spansOf(
    TraceReader& reader, const RunFacts& facts, const tracing::Lane& lane, Window window)
{
    switch (lane.kind) {
    case LaneKind::Compute:
        return computeSpans(reader, facts, lane.id, window);
    case LaneKind::Communication:
        return communicationSpans(reader, facts, lane, window);
    case LaneKind::Copy:
        return copySpans(reader, lane.id, window);
    case LaneKind::Host:
        return hostSpans(reader, lane.id, window);
    case LaneKind::Counter:
        break;
    }
    return std::vector<SpanRecord>{};
}

void setRange(LaneContent& content, std::span<const tracing::CounterSample> samples)
{
    if (samples.empty())
        return;
    const auto [lowest, highest] = std::minmax_element(
        samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    content.lowest = lowest->value;
    content.highest = highest->value;
}

} // namespace

SpanRecord resolve(TraceReader& reader, const RunFacts& facts, const tracing::Lane& lane, const SpanRecord& span)
{
    const auto rows = spansOf(reader, facts, lane, { span.beginNs, span.beginNs + 1 });
    if (!rows)
        return span;
    for (const SpanRecord& row : *rows) {
        if (row.beginNs == span.beginNs && row.endNs == span.endNs)
            return row;
    }
    return span;
}

namespace {

/// The tile of its begin knows a span; one that began before the window is asked for.
tracing::Status loadFromTiles(TraceReader& reader, const RunFacts& facts, const tracing::Lane& lane,
    std::span<const tracing::Tile> tiles, LaneContent& content)
{
    content.fromTiles = true;
    content.spans = longSpansOf(tiles, content.nsPerPx);
    for (SpanRecord& span : content.spans) {
        if (static_cast<double>(span.durationNs()) >= kNamedPx * content.nsPerPx) {
            span = resolve(reader, facts, lane, span);
            span.level = 0;
        }
    }
    auto earlier = spansOf(reader, facts, lane, { content.window.beginNs, content.window.beginNs + 1 });
    if (!earlier)
        return earlier.error();
    std::erase_if(*earlier, [&](const SpanRecord& span) {
        return span.level > 0 || span.beginNs >= content.window.beginNs
            || static_cast<double>(span.durationNs()) < kFoldPx * content.nsPerPx;
    });
    content.spans.insert(content.spans.begin(), earlier->begin(), earlier->end());
    content.folds = foldsOf(tiles, content.spans);
    return tracing::Done{};
}

} // namespace

tracing::Result<LaneContent> loadLane(
    TraceReader& reader, const RunFacts& facts, const tracing::Lane& lane, Window window, double nsPerPx)
{
    LaneContent content;
    content.lane = lane.id;
    content.window = window;
    content.nsPerPx = nsPerPx;
    if (lane.kind == LaneKind::Counter) {
        // All samples, which are few: a counter keeps its value until the next one, and the scale must not move with
        // the view.
        const auto samples = reader.counters(lane.id, facts.window);
        if (!samples)
            return samples.error();
        setRange(content, *samples);
        const auto inside = std::find_if(samples->begin(), samples->end(),
            [&](const tracing::CounterSample& sample) { return sample.timeNs > window.beginNs; });
        const auto outside = std::find_if(inside, samples->end(),
            [&](const tracing::CounterSample& sample) { return sample.timeNs >= window.endNs; });
        const std::span shown(inside == samples->begin() ? inside : std::prev(inside), outside);
        const bool isLast = outside == samples->end();
        content.samples = foldCounter(shown, nsPerPx, isLast ? facts.window.endNs : outside->timeNs);
        return content;
    }

    const int level = tileLevelFor(nsPerPx);
    const auto tiles = reader.tiles(lane.id, level, window);
    if (!tiles)
        return tiles.error();
    std::int64_t events = 0;
    for (const tracing::Tile& tile : *tiles)
        events += tile.count;
    const bool tilesAreFine = static_cast<double>(tracing::tileWidthNs(level)) <= 4 * nsPerPx;
    if (events > kMostRows && tilesAreFine) {
        if (auto status = loadFromTiles(reader, facts, lane, *tiles, content); !status)
            return status.error();
        return content;
    }
    auto spans = spansOf(reader, facts, lane, window);
    if (!spans)
        return spans.error();
    SpanFolder folder(nsPerPx);
    for (const SpanRecord& span : *spans)
        folder.add(span);
    folder.finish(content);
    return content;
}

} // namespace rankscope::app::timeline
