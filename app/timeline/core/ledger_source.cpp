#include "app/timeline/core/ledger_source.h"

#include "app/timeline/core/fold.h"

#include <algorithm>
#include <array>
#include <map>

namespace rankscope::app::timeline {

using tracing::LaneKind;
using tracing::SpanClass;
using tracing::Window;

namespace {

struct RankTiles {
    std::map<std::int64_t, LedgerCell> cells; ///< by index
    int level = 0;
};

tracing::Result<RankTiles> readTiles(
    tracing::TraceReader& reader, const RunFacts& facts, std::int32_t rank, Window window, double nsPerPx)
{
    RankTiles result;
    result.level = tileLevelFor(nsPerPx);
    for (const tracing::Lane& lane : facts.lanes) {
        if (lane.rank != rank || lane.kind == LaneKind::Host || lane.kind == LaneKind::Counter)
            continue;
        const auto tiles = reader.tiles(lane.id, result.level, window);
        if (!tiles)
            return tiles.error();
        for (const tracing::Tile& tile : *tiles) {
            LedgerCell& cell = result.cells[tile.index];
            const bool compute = lane.kind == LaneKind::Compute;
            (compute ? cell.computeNs : cell.communicationNs) += tile.busyNs;
            ClassTimes& times = compute ? cell.compute : cell.communication;
            for (std::size_t i = 0; i < times.size(); ++i)
                times[i] += tile.classNs[i];
        }
    }
    return result;
}

/// Neighbouring cells of one label become one fold.
std::vector<FoldRecord> foldsOf(const RankTiles& tiles, Window window)
{
    const std::int64_t widthNs = tracing::tileWidthNs(tiles.level);
    std::vector<FoldRecord> folds;
    const auto put = [&](std::int64_t beginNs, std::int64_t endNs, SpanClass cover) {
        if (beginNs >= endNs)
            return;
        if (!folds.empty() && folds.back().cover == cover && folds.back().endNs == beginNs) {
            folds.back().endNs = endNs;
        } else {
            FoldRecord fold;
            fold.beginNs = beginNs;
            fold.endNs = endNs;
            fold.cover = cover;
            folds.push_back(fold);
        }
        folds.back().busyNs = folds.back().spaceNs = folds.back().endNs - folds.back().beginNs;
    };
    std::int64_t reached = window.beginNs;
    for (const auto& [index, cell] : tiles.cells) {
        const std::int64_t beginNs = std::max(window.beginNs, index * widthNs);
        put(reached, beginNs, SpanClass::Unattributed);
        reached = std::min(window.endNs, (index + 1) * widthNs);
        put(beginNs, reached, coverOf(cell, widthNs));
    }
    put(reached, window.endNs, SpanClass::Unattributed);
    return folds;
}

SpanRecord spanOf(const tracing::LabelledInterval& interval)
{
    SpanRecord span;
    span.beginNs = interval.beginNs;
    span.endNs = interval.endNs;
    span.row = RowKind::Ledger;
    span.spanClass = interval.label;
    span.phase = interval.phase;
    span.peer = interval.awaitedRank;
    span.overCommunication = interval.communicationHidden;
    return span;
}

void foldStretches(const std::vector<tracing::LabelledInterval>& lane, Window window, LaneContent& content)
{
    SpanFolder folder(content.nsPerPx);
    const auto first = std::upper_bound(lane.begin(), lane.end(), window.beginNs,
        [](std::int64_t ns, const tracing::LabelledInterval& interval) { return ns < interval.endNs; });
    for (auto it = first; it != lane.end() && it->beginNs < window.endNs; ++it)
        folder.add(spanOf(*it));
    folder.finish(content);
}

} // namespace

SpanClass coverOf(const LedgerCell& cell, std::int64_t widthNs)
{
    constexpr auto kTransfer = static_cast<std::size_t>(SpanClass::Transfer);
    constexpr auto kBubble = static_cast<std::size_t>(SpanClass::Bubble);
    ClassTimes times = cell.compute;
    const std::int64_t bubbleNs = times[kBubble];
    std::int64_t left = std::max<std::int64_t>(0, widthNs - (cell.computeNs - bubbleNs));
    const std::int64_t exposed = std::min(left, cell.communicationNs);
    const auto exposedOf = [&](std::int64_t ns) {
        return cell.communicationNs == 0
            ? 0
            : static_cast<std::int64_t>(
                static_cast<double>(ns) * static_cast<double>(exposed) / static_cast<double>(cell.communicationNs));
    };
    const auto give = [&](std::size_t spanClass, std::int64_t ns) {
        const std::int64_t given = std::min(left, ns);
        times[spanClass] += given;
        left -= given;
    };
    times[kBubble] = 0;
    give(kTransfer, exposedOf(cell.communication[kTransfer]));
    give(kBubble, bubbleNs);
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (i != kTransfer)
            give(i, exposedOf(cell.communication[i]));
    }
    give(static_cast<std::size_t>(SpanClass::Unattributed), left);
    return static_cast<SpanClass>(std::max_element(times.begin(), times.end()) - times.begin());
}

tracing::Result<LaneContent> loadLedger(tracing::TraceReader& reader, const RunFacts& facts,
    const tracing::LedgerLanes* lanes, std::int32_t rank, Window window, double nsPerPx)
{
    LaneContent content;
    content.window = window;
    content.nsPerPx = nsPerPx;
    const Window recorded{ std::max(window.beginNs, facts.window.beginNs), std::min(window.endNs, facts.window.endNs) };
    const std::int64_t countedNs = lanes ? lanes->covers.endNs : recorded.beginNs;
    if (lanes) {
        const auto lane = lanes->ranks.find(rank);
        if (lane != lanes->ranks.end())
            foldStretches(lane->second, { recorded.beginNs, std::min(recorded.endNs, countedNs) }, content);
    }
    const Window since{ std::max(recorded.beginNs, countedNs), recorded.endNs };
    if (since.durationNs() <= 0)
        return content;
    const auto tiles = readTiles(reader, facts, rank, since, nsPerPx);
    if (!tiles)
        return tiles.error();
    const auto folds = foldsOf(*tiles, since);
    content.fromTiles = true;
    content.folds.insert(content.folds.end(), folds.begin(), folds.end());
    return content;
}

} // namespace rankscope::app::timeline
