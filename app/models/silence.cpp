#include "app/models/silence.h"

#include "tracing/analysis/kernel_name.h"
#include "tracing/analysis/wording.h"

#include <QStringList>

#include <algorithm>
#include <map>
#include <string>

namespace rankscope::app {
namespace {

using tracing::Lane;
using tracing::LaneKind;
using tracing::Result;
using tracing::TraceReader;

constexpr std::size_t kMostNamed = 2;

struct LastSpan {
    const Lane* lane = nullptr;
    std::int64_t endNs = 0;
};

/// Of rows that touch an instant the one that ends there.
template <typename Row> const Row* endingAt(const Result<std::vector<Row>>& rows, std::int64_t endNs)
{
    if (!rows)
        return nullptr;
    const auto found = std::ranges::find(*rows, endNs, &Row::endNs);
    return found == rows->end() ? nullptr : &*found;
}

std::string nameOf(TraceReader& reader, tracing::NameId id)
{
    const auto names = reader.names();
    const auto index = static_cast<std::size_t>(raw(id));
    return names && index < names->size() ? (*names)[index] : std::string();
}

std::string kernelName(TraceReader& reader, const tracing::Kernel& kernel)
{
    const auto signatures = reader.signatures();
    const auto index = static_cast<std::size_t>(raw(kernel.signature));
    if (!signatures || index >= signatures->size())
        return {};
    return tracing::shortKernelName(nameOf(reader, (*signatures)[index].name));
}

/// What ended there; empty where the row cannot be found.
std::string whatEnded(TraceReader& reader, const LastSpan& last)
{
    const tracing::Window instant{ last.endNs - 1, last.endNs };
    const tracing::LaneId lane = last.lane->id;
    switch (last.lane->kind) {
    case LaneKind::Compute: {
        const auto kernels = reader.kernels(lane, instant);
        if (const auto* kernel = endingAt(kernels, last.endNs))
            return kernelName(reader, *kernel);
        const auto bubbles = reader.bubbles(lane, instant);
        return endingAt(bubbles, last.endNs) ? "a bubble" : std::string();
    }
    case LaneKind::Communication: {
        const auto parts = reader.collectives(lane, instant);
        const auto* part = endingAt(parts, last.endNs);
        return part ? std::string(toString(part->op)) : std::string();
    }
    case LaneKind::Copy: {
        const auto copies = reader.copies(lane, instant);
        const auto* copy = endingAt(copies, last.endNs);
        return copy ? nameOf(reader, copy->name) : std::string();
    }
    case LaneKind::Host: {
        const auto calls = reader.hostCalls(lane, instant);
        if (const auto* call = endingAt(calls, last.endNs))
            return nameOf(reader, call->name);
        const auto ranges = reader.ranges(lane, instant);
        const auto* range = endingAt(ranges, last.endNs);
        return range ? std::string(toString(range->kind)) : std::string();
    }
    case LaneKind::Counter:
        break;
    }
    return {};
}

/// " in step 41"; behind the last step that the file holds " after step 41": a step is entered when it ends.
std::string whichStep(const std::vector<tracing::Step>& steps, std::int32_t rank, std::int64_t atNs)
{
    const tracing::Step* latest = nullptr;
    for (const tracing::Step& step : steps) {
        if (step.rank == rank && step.beginNs < atNs && (!latest || step.beginNs > latest->beginNs))
            latest = &step;
    }
    if (!latest)
        return {};
    return (atNs <= latest->endNs ? " in step " : " after step ") + std::to_string(latest->step);
}

QString spanText(std::int64_t ns)
{
    const std::int64_t seconds = ns / 1'000'000'000;
    return seconds < 120 ? QStringLiteral("%1 s").arg(seconds) : QStringLiteral("%1 min").arg(seconds / 60);
}

QString oneText(const Silence& silence, std::int64_t nowNs)
{
    const QString rank = QStringLiteral("rank %1").arg(silence.rank);
    if (!silence.lastNs)
        return rank + QStringLiteral(" has recorded nothing so far");
    const QString last = silence.last.isEmpty() ? QString() : QStringLiteral("; last: ") + silence.last;
    return rank + QStringLiteral(" has recorded nothing for ") + spanText(nowNs - *silence.lastNs) + last;
}

} // namespace

Result<std::vector<Silence>> readSilence(TraceReader& reader, const RunSnapshot& run, std::int64_t nowNs)
{
    std::vector<Silence> silent;
    if (nowNs - run.window.beginNs <= kSilentAfterNs)
        return silent;
    const auto ends = reader.latestEnds();
    if (!ends)
        return ends.error();
    std::map<std::int32_t, std::optional<std::int64_t>> newest; // of any lane
    std::map<std::int32_t, LastSpan> last; // of a lane whose rows have names
    for (const auto& rank : run.ranks)
        newest[rank.rank];
    for (const Lane& lane : run.lanes) {
        const auto end = ends->find(lane.id);
        if (end == ends->end())
            continue;
        auto& known = newest[lane.rank];
        known = std::max(known.value_or(end->second), end->second);
        LastSpan& best = last[lane.rank];
        // Ranges of the host end after what they hold; what ran says more.
        const bool isWork = lane.kind != LaneKind::Host && lane.kind != LaneKind::Counter;
        if (isWork && (!best.lane || end->second > best.endNs))
            best = { &lane, end->second };
    }
    std::optional<std::vector<tracing::Step>> steps;
    for (const auto& [rank, endNs] : newest) {
        if (endNs && nowNs - *endNs <= kSilentAfterNs)
            continue;
        Silence silence{ rank, endNs, {} };
        if (const LastSpan& span = last[rank]; span.lane) {
            if (!steps) {
                auto read = reader.steps();
                if (!read)
                    return read.error();
                steps = std::move(*read);
            }
            const std::string what = whatEnded(reader, span);
            if (!what.empty())
                silence.last = QString::fromStdString(what + whichStep(*steps, rank, span.endNs));
        }
        silent.push_back(silence);
    }
    std::ranges::stable_sort(silent, {}, [](const Silence& each) { return each.lastNs.value_or(INT64_MIN); });
    return silent;
}

QString silenceText(const std::vector<Silence>& silent, std::size_t ranks, std::int64_t nowNs)
{
    if (silent.empty())
        return {};
    QStringList parts;
    for (std::size_t i = 0; i < std::min(kMostNamed, silent.size()); ++i)
        parts << oneText(silent[i], nowNs);
    QString text = parts.join(QStringLiteral(" · "));
    if (silent.size() == ranks && ranks > 1)
        text = (ranks == 2 ? QStringLiteral("Both ranks") : QStringLiteral("All %1 ranks").arg(ranks))
            + QStringLiteral(" are silent: ") + text;
    else if (silent.size() > kMostNamed)
        text += QStringLiteral(" · %1 more").arg(silent.size() - kMostNamed);
    text[0] = text[0].toUpper();
    return text;
}

} // namespace rankscope::app
