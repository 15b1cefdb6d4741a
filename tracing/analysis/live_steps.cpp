#include "tracing/analysis/live_steps.h"

#include <algorithm>
#include <limits>

namespace rankscope::tracing {

namespace {

/// The collector writes what ranks do at the same time sooner than that.
constexpr std::int64_t kLongestDelayNs = 5'000'000'000;

} // namespace

std::vector<StepSpan>::iterator LiveSteps::find(const Place& place)
{
    return std::ranges::lower_bound(
        steps_, place, {}, [](const StepSpan& span) { return Place(span.attempt, span.step); });
}

/// Gives the index of the first step that is another one now.
std::size_t LiveSteps::add(const Step& row)
{
    lastEndNs_ = std::max(lastEndNs_, row.endNs);
    const Place place(row.attempt, row.step);
    const auto at = find(place);
    const auto index = static_cast<std::size_t>(at - steps_.begin());
    // The one before ends where this one begins.
    const std::size_t changed = index > 0 ? index - 1 : 0;
    if (at == steps_.end() || Place(at->attempt, at->step) != place) {
        const bool isLast = at == steps_.end();
        steps_.insert(at, { row.step, row.attempt, { row.beginNs, row.endNs } });
        return isLast ? index : changed;
    }
    at->window.endNs = std::max(at->window.endNs, row.endNs);
    if (row.beginNs >= at->window.beginNs)
        return steps_.size();
    at->window.beginNs = row.beginNs;
    return changed;
}

Status LiveSteps::readRank(TraceReader& reader, std::int32_t rank, std::int32_t attempts, std::size_t& changed)
{
    for (std::int32_t attempt = 0; attempt < attempts; ++attempt) {
        auto& last = last_.try_emplace({ rank, attempt }, std::numeric_limits<std::int64_t>::min()).first->second;
        const auto rows = reader.steps(rank, attempt, last, std::numeric_limits<std::int64_t>::max());
        if (!rows)
            return rows.error();
        for (const Step& row : *rows) {
            changed = std::min(changed, add(row));
            last = row.step;
        }
    }
    return Done{};
}

Result<std::size_t> LiveSteps::read(TraceReader& reader, const RunFacts& facts)
{
    const std::size_t before = steps_.size();
    std::size_t changed = before;
    // Of an attempt that has begun before its predecessor's end was noted nothing is known yet.
    const auto attempts = static_cast<std::int32_t>(facts.failures.size()) + 1;
    for (const RankInfo& rank : facts.ranks) {
        if (const Status status = readRank(reader, rank.rank, attempts, changed); !status)
            return status.error();
    }
    if (const Status status = settle(reader, facts); !status)
        return status.error();
    return std::min(changed, before);
}

Status LiveSteps::settle(TraceReader& reader, const RunFacts& facts)
{
    const auto ends = reader.latestEnds();
    if (!ends)
        return ends.error();
    std::map<std::int32_t, std::int64_t> heard;
    for (const Lane& lane : facts.lanes) {
        if (const auto end = ends->find(lane.id); end != ends->end())
            heard[lane.rank] = std::max(heard.try_emplace(lane.rank, INT64_MIN).first->second, end->second);
    }
    constexpr Place kNone(-1, 0);
    std::map<std::int32_t, Place> progress;
    for (const auto& [key, step] : last_) {
        if (step != std::numeric_limits<std::int64_t>::min()) {
            Place& latest = progress.try_emplace(key.first, kNone).first->second;
            latest = std::max(latest, Place(key.second, step));
        }
    }
    Place least(std::numeric_limits<std::int32_t>::max(), 0);
    for (const RankInfo& rank : facts.ranks) {
        const auto last = heard.find(rank.rank);
        const bool isSilent = last == heard.end() || facts.window.endNs - last->second > kLongestDelayNs;
        const auto own = progress.find(rank.rank);
        if (!isSilent)
            least = std::min(least, own == progress.end() ? kNone : own->second);
    }
    const auto next = static_cast<std::size_t>(find(least) - steps_.begin());
    settled_ = std::min(next, steps_.empty() ? 0 : steps_.size() - 1);
    return Done{};
}

} // namespace rankscope::tracing
