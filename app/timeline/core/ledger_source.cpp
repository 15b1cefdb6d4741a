#include "app/timeline/core/ledger_source.h"

#include "app/timeline/core/fold.h"
#include "tracing/analysis/run_analysis.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace rankscope::app::timeline {

using tracing::LaneKind;
using tracing::SpanClass;
using tracing::Window;

namespace {

constexpr std::int64_t kMostEvents = 20'000; ///< of one rank, labelled one by one; some 20 ms of a worker's time

struct RankTiles {
    std::map<std::int64_t, LedgerCell> cells; ///< by index
    std::int64_t events = 0;
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
            result.events += tile.count;
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

SpanRecord spanOf(const tracing::LabelledInterval& interval, Window read, Window run)
{
    SpanRecord span;
    span.beginNs = interval.beginNs;
    span.endNs = interval.endNs;
    span.row = RowKind::Ledger;
    span.spanClass = interval.label;
    span.phase = interval.phase;
    span.peer = interval.awaitedRank;
    span.overCommunication = interval.communicationHidden;
    span.cut = (interval.beginNs == read.beginNs && read.beginNs > run.beginNs)
        || (interval.endNs == read.endNs && read.endNs < run.endNs);
    return span;
}

/// What a stretch lost without a core is drawn at its end: how much is known, but not when.
std::pair<SpanRecord, SpanRecord> withoutCore(const SpanRecord& whole, std::int64_t descheduledNs)
{
    SpanRecord own = whole;
    SpanRecord lost = whole;
    lost.spanClass = SpanClass::Descheduled;
    own.endNs = lost.beginNs = whole.endNs - std::clamp<std::int64_t>(descheduledNs, 0, whole.durationNs());
    return { own, lost };
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

tracing::Result<LaneContent> loadLedger(
    tracing::TraceReader& reader, const RunFacts& facts, std::int32_t rank, Window window, double nsPerPx)
{
    LaneContent content;
    content.window = window;
    content.nsPerPx = nsPerPx;
    const Window recorded{ std::max(window.beginNs, facts.window.beginNs), std::min(window.endNs, facts.window.endNs) };
    if (recorded.durationNs() <= 0)
        return content;
    const auto tiles = readTiles(reader, facts, rank, recorded, nsPerPx);
    if (!tiles)
        return tiles.error();
    if (tiles->events > kMostEvents) {
        content.fromTiles = true;
        content.folds = foldsOf(*tiles, recorded);
        return content;
    }
    const auto intervals = tracing::ledgerLane(reader, rank, recorded);
    if (!intervals)
        return intervals.error();
    SpanFolder folder(nsPerPx);
    for (const tracing::LabelledInterval& interval : *intervals) {
        const auto [own, lost] = withoutCore(spanOf(interval, recorded, facts.window), interval.descheduledNs);
        if (own.durationNs() > 0)
            folder.add(own);
        if (lost.durationNs() > 0)
            folder.add(lost);
    }
    folder.finish(content);
    return content;
}

} // namespace rankscope::app::timeline
