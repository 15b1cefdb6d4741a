#include "app/timeline/core/fold.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app::timeline {

using tracing::SpanClass;

double FoldRecord::fullness() const
{
    return spaceNs > 0 ? std::clamp(static_cast<double>(busyNs) / static_cast<double>(spaceNs), 0.0, 1.0) : 1.0;
}

namespace {

using ClassTimes = std::array<std::int64_t, tracing::kSpanClassCount>;

SpanClass mostCovering(const ClassTimes& classNs)
{
    const auto best = std::max_element(classNs.begin(), classNs.end());
    return static_cast<SpanClass>(best - classNs.begin());
}

/// A collective counts with both of its parts.
void addClassTimes(const SpanRecord& span, ClassTimes& classNs)
{
    const auto at = [&](SpanClass spanClass) -> std::int64_t& { return classNs[static_cast<std::size_t>(spanClass)]; };
    if (span.row == RowKind::Collective && span.matched) {
        at(SpanClass::Wait) += span.splitNs - span.beginNs;
        at(SpanClass::Transfer) += span.endNs - span.splitNs;
    } else {
        at(span.spanClass) += span.durationNs();
    }
}

bool byBegin(const auto& a, const auto& b) { return a.beginNs < b.beginNs; }

} // namespace

SpanFolder::SpanFolder(double nsPerPx)
    : nsPerPx_(nsPerPx)
    , cellNs_(std::max<std::int64_t>(1, std::llround(kFoldPx * nsPerPx)))
{
}

void SpanFolder::add(const SpanRecord& span)
{
    const auto level = static_cast<std::size_t>(span.level);
    if (cells_.size() <= level)
        cells_.resize(level + 1);
    Cell& cell = cells_[level];
    if (static_cast<double>(span.durationNs()) >= kFoldPx * nsPerPx_) {
        close(cell);
        spans_.push_back(span);
        return;
    }
    const std::int64_t index = span.beginNs / cellNs_;
    if (cell.open && cell.index != index)
        close(cell);
    if (!cell.open) {
        cell = Cell{};
        cell.open = true;
        cell.index = index;
        cell.first = span;
        cell.fold.beginNs = span.beginNs;
        cell.fold.endNs = span.beginNs;
        cell.fold.level = span.level;
    }
    FoldRecord& fold = cell.fold;
    fold.busyNs
        += std::max<std::int64_t>(0, span.endNs - std::max(span.beginNs, fold.count > 0 ? fold.endNs : span.beginNs));
    fold.endNs = std::max(fold.endNs, span.endNs);
    addClassTimes(span, cell.classNs);
    if (fold.count == 0 || span.durationNs() > fold.longestEndNs - fold.longestBeginNs) {
        fold.longestBeginNs = span.beginNs;
        fold.longestEndNs = span.endNs;
        fold.longestClass = span.spanClass;
    }
    ++fold.count;
}

void SpanFolder::close(Cell& cell)
{
    if (!cell.open)
        return;
    cell.open = false;
    // One span of at least a pixel needs no fold: it keeps its name, and costs one record either way.
    if (cell.fold.count == 1 && static_cast<double>(cell.first.durationNs()) >= nsPerPx_) {
        spans_.push_back(cell.first);
        return;
    }
    cell.fold.cover = mostCovering(cell.classNs);
    // The ledger's stretches leave no time between them: what stands beside a fold in its cell is another record.
    const std::int64_t ownNs = cell.fold.endNs - cell.fold.beginNs;
    cell.fold.spaceNs = cell.first.row == RowKind::Ledger ? std::max<std::int64_t>(1, ownNs) : std::max(cellNs_, ownNs);
    folds_.push_back(cell.fold);
}

void SpanFolder::finish(LaneContent& content)
{
    for (Cell& cell : cells_)
        close(cell);
    std::stable_sort(spans_.begin(), spans_.end(), [](const auto& a, const auto& b) { return byBegin(a, b); });
    std::stable_sort(folds_.begin(), folds_.end(), [](const auto& a, const auto& b) { return byBegin(a, b); });
    content.levels = std::max(content.levels, static_cast<int>(cells_.size()));
    content.spans = std::move(spans_);
    content.folds = std::move(folds_);
}

int tileLevelFor(double nsPerPx)
{
    int level = 0;
    while (level + 1 < tracing::kTileLevels && static_cast<double>(tracing::tileWidthNs(level + 1)) <= 4 * nsPerPx)
        ++level;
    return level;
}

std::vector<SpanRecord> longSpansOf(std::span<const tracing::Tile> tiles, double nsPerPx)
{
    std::vector<SpanRecord> spans;
    for (const tracing::Tile& tile : tiles) {
        if (static_cast<double>(tile.longestEndNs - tile.longestBeginNs) < kFoldPx * nsPerPx)
            continue;
        SpanRecord span;
        span.beginNs = tile.longestBeginNs;
        span.endNs = tile.longestEndNs;
        span.spanClass = tile.longestClass;
        spans.push_back(span);
    }
    std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return byBegin(a, b); });
    const auto same
        = [](const SpanRecord& a, const SpanRecord& b) { return a.beginNs == b.beginNs && a.endNs == b.endNs; };
    spans.erase(std::unique(spans.begin(), spans.end(), same), spans.end());
    return spans;
}

namespace {

/// Takes the part of the cell that a long span explains out of busy and class times.
void takeOut(const SpanRecord& span, std::int64_t beginNs, std::int64_t endNs, FoldRecord& fold, ClassTimes& classNs)
{
    const auto part = [&](std::int64_t from, std::int64_t to) {
        return std::max<std::int64_t>(0, std::min(to, endNs) - std::max(from, beginNs));
    };
    const auto take = [&](SpanClass spanClass, std::int64_t ns) {
        std::int64_t& left = classNs[static_cast<std::size_t>(spanClass)];
        left = std::max<std::int64_t>(0, left - ns);
    };
    const std::int64_t covered = part(span.beginNs, span.endNs);
    fold.busyNs -= covered;
    fold.spaceNs -= covered;
    if (span.beginNs >= beginNs && span.beginNs < endNs)
        --fold.count;
    if (span.row == RowKind::Collective && span.matched) {
        take(SpanClass::Wait, part(span.beginNs, span.splitNs));
        take(SpanClass::Transfer, part(span.splitNs, span.endNs));
    } else {
        take(span.spanClass, covered);
    }
}

} // namespace

std::vector<FoldRecord> foldsOf(std::span<const tracing::Tile> tiles, std::span<const SpanRecord> longSpans)
{
    std::vector<FoldRecord> folds;
    auto from = longSpans.begin();
    for (const tracing::Tile& tile : tiles) {
        const std::int64_t widthNs = tracing::tileWidthNs(tile.level);
        FoldRecord fold;
        fold.beginNs = tile.index * widthNs;
        fold.endNs = fold.beginNs + widthNs;
        fold.count = tile.count;
        fold.busyNs = tile.busyNs;
        fold.spaceNs = widthNs;
        fold.longestBeginNs = tile.longestBeginNs;
        fold.longestEndNs = tile.longestEndNs;
        fold.longestClass = tile.longestClass;
        ClassTimes classNs = tile.classNs;
        while (from != longSpans.end() && from->endNs <= fold.beginNs)
            ++from;
        for (auto it = from; it != longSpans.end() && it->beginNs < fold.endNs; ++it)
            takeOut(*it, fold.beginNs, fold.endNs, fold, classNs);
        if (fold.busyNs <= widthNs / 1000)
            continue;
        fold.cover = mostCovering(classNs);
        folds.push_back(fold);
    }
    return folds;
}

std::vector<CounterRecord> foldCounter(
    std::span<const tracing::CounterSample> samples, double nsPerPx, std::int64_t untilNs)
{
    std::vector<CounterRecord> records;
    const auto cellNs = std::max<std::int64_t>(1, std::llround(nsPerPx));
    for (const tracing::CounterSample& sample : samples) {
        if (!records.empty() && records.back().beginNs / cellNs == sample.timeNs / cellNs) {
            CounterRecord& record = records.back();
            record.low = std::min(record.low, sample.value);
            record.high = std::max(record.high, sample.value);
            record.last = sample.value;
            continue;
        }
        if (!records.empty())
            records.back().endNs = sample.timeNs;
        records.push_back({ sample.timeNs, sample.timeNs, sample.value, sample.value, sample.value });
    }
    if (!records.empty())
        records.back().endNs = std::max(untilNs, records.back().beginNs);
    return records;
}

int assignLevels(std::span<SpanRecord> spans, int maxLevels)
{
    std::vector<std::int64_t> endsNs;
    for (SpanRecord& span : spans) {
        std::size_t level = 0;
        while (level < endsNs.size() && endsNs[level] > span.beginNs)
            ++level;
        level = std::min(level, static_cast<std::size_t>(maxLevels - 1));
        if (level == endsNs.size())
            endsNs.push_back(0);
        endsNs[level] = std::max(endsNs[level], span.endNs);
        span.level = static_cast<std::int16_t>(level);
    }
    return std::max(1, static_cast<int>(endsNs.size()));
}

} // namespace rankscope::app::timeline
