#include "tracing/import/window_merge.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kMemoryBytes = 48u << 20;

class Merger {
public:
    explicit Merger(SourceTrace first)
        : out_(std::move(first))
        , source_(std::move(out_.events))
    {
        out_.events = std::make_unique<EventSpool>(kMemoryBytes);
    }

    /// Takes over the first trace's own events: everything in it is numbered already.
    void addFirst()
    {
        for (std::uint32_t lane = 0; lane < out_.lanes.size(); ++lane)
            lanes_[key(out_.lanes[lane])] = lane;
        for (std::uint32_t lane = 0; lane < out_.lanes.size(); ++lane)
            copyEvents(*source_, lane, out_, [&](SourceEvent& event) { out_.events->append(event); });
        source_.reset();
        out_.actionLaunches.clear();
        std::erase_if(out_.parts, [&](const SourcePart& part) { return isFarOff(part.beginNs, out_); });
    }

    void add(SourceTrace& window)
    {
        std::int64_t shift = 0;
        if (__builtin_sub_overflow(window.baseNs, out_.baseNs, &shift))
            return;
        std::vector<std::uint32_t> lanes, groups;
        for (const SourceLane& lane : window.lanes)
            lanes.push_back(laneOf(lane));
        for (const SourceGroup& group : window.groups)
            groups.push_back(groupOf(group));
        std::vector<std::uint32_t> names(window.strings.size(), UINT32_MAX);
        const auto nameOf = [&](std::uint32_t id) {
            if (names[id] == UINT32_MAX)
                names[id] = out_.strings.intern(window.strings[id]);
            return names[id];
        };
        for (std::uint32_t lane = 0; lane < window.lanes.size(); ++lane) {
            copyEvents(*window.events, lane, window, [&](SourceEvent& event) {
                event.beginNs += shift;
                event.endNs += shift;
                event.lane = lanes[lane];
                event.name = nameOf(event.name);
                if (event.kind == SourceKind::Kernel)
                    event.extra = out_.kernelFacts.intern(window.kernelFacts[event.extra]);
                out_.events->append(event);
            });
        }
        for (SourcePart part : window.parts) {
            if (isFarOff(part.beginNs, window))
                continue;
            part.beginNs += shift;
            part.endNs += shift;
            part.lane = lanes[part.lane];
            part.name = nameOf(part.name);
            part.group = groups.empty() ? 0 : groups[part.group];
            out_.parts.push_back(part);
        }
        for (const SourceStep& step : window.steps)
            out_.steps.push_back({ step.step, step.beginNs + shift, step.endNs + shift });
        for (SourceAction action : window.actions) {
            action.beginNs += shift;
            action.endNs += shift;
            out_.actions.push_back(action);
        }
        out_.losses.insert(out_.losses.end(), window.losses.begin(), window.losses.end());
        out_.fractionalTimes = out_.fractionalTimes || window.fractionalTimes;
        paths_ += "; " + window.path;
        ++windows_;
    }

    SourceTrace finish()
    {
        out_.events->close();
        // Each window was cut at its own bounds; together they may lie days apart.
        out_.lowestNs = std::numeric_limits<std::int64_t>::min();
        out_.highestNs = std::numeric_limits<std::int64_t>::max();
        std::ranges::sort(out_.steps, {}, &SourceStep::beginNs);
        std::ranges::stable_sort(out_.actions, {}, &SourceAction::beginNs);
        std::set<std::int64_t> numbers;
        std::int64_t repeated = 0;
        for (const SourceStep& step : out_.steps)
            repeated += numbers.insert(step.step).second ? 0 : 1;
        if (repeated > 0)
            out_.losses.push_back(
                { "step number used twice", repeated, out_.path + ": windows of one rank count from the same step" });
        if (farOff_ > 0)
            out_.losses.push_back({ "time far from all others", farOff_, out_.path });
        out_.metadata["windows"] = std::to_string(windows_);
        out_.metadata["window_files"] = out_.path + paths_;
        return std::move(out_);
    }

private:
    using LaneKey = std::tuple<LaneKind, Dimension, std::string>;
    static LaneKey key(const SourceLane& lane) { return { lane.kind, lane.dimension, lane.name }; }

    bool isFarOff(std::int64_t beginNs, const SourceTrace& trace)
    {
        const bool far = beginNs < trace.lowestNs || beginNs > trace.highestNs;
        farOff_ += far ? 1 : 0;
        return far;
    }

    template <typename Take>
    void copyEvents(EventSpool& from, std::uint32_t lane, const SourceTrace& bounds, const Take& take)
    {
        const Status visited = from.visit(lane, [&](std::span<const SourceEvent> events) -> Status {
            for (SourceEvent event : events) {
                if (isFarOff(event.beginNs, bounds))
                    continue;
                if (event.kind == SourceKind::Kernel)
                    applyAction(bounds, event); // another window may use its correlation's number again
                take(event);
            }
            return Done{};
        });
        if (!visited)
            out_.losses.push_back({ "events that could not be read back", 1, visited.error().message() });
    }

    std::uint32_t laneOf(const SourceLane& lane)
    {
        const auto [it, isNew] = lanes_.try_emplace(key(lane), static_cast<std::uint32_t>(out_.lanes.size()));
        if (isNew)
            out_.lanes.push_back(lane);
        return it->second;
    }

    std::uint32_t groupOf(const SourceGroup& group)
    {
        const auto known = std::ranges::find_if(out_.groups, [&](const SourceGroup& other) {
            return other.name == group.name && other.ranks == group.ranks && other.size == group.size;
        });
        if (known != out_.groups.end())
            return static_cast<std::uint32_t>(known - out_.groups.begin());
        out_.groups.push_back(group);
        return static_cast<std::uint32_t>(out_.groups.size() - 1);
    }

    SourceTrace out_;
    std::unique_ptr<EventSpool> source_;
    std::map<LaneKey, std::uint32_t> lanes_;
    std::string paths_;
    std::int64_t windows_ = 1;
    std::int64_t farOff_ = 0;
};

} // namespace

std::optional<Window> extentOf(const SourceTrace& trace)
{
    std::optional<Window> extent;
    const auto include = [&](std::int64_t first, std::int64_t last) {
        extent = extent ? Window{ std::min(extent->beginNs, first), std::max(extent->endNs, last) }
                        : Window{ first, last };
    };
    if (const auto events = trace.events->extent(trace.lowestNs, trace.highestNs))
        include(events->first, events->second);
    for (const SourcePart& part : trace.parts) {
        if (part.beginNs >= trace.lowestNs && part.beginNs <= trace.highestNs)
            include(part.beginNs, part.beginNs);
    }
    if (!extent || __builtin_add_overflow(extent->beginNs, trace.baseNs, &extent->beginNs)
        || __builtin_add_overflow(extent->endNs, trace.baseNs, &extent->endNs))
        return std::nullopt;
    return extent;
}

SourceTrace mergeWindows(std::vector<SourceTrace> windows)
{
    std::ranges::stable_sort(windows, {}, [](const SourceTrace& trace) {
        const auto extent = extentOf(trace);
        return extent ? extent->beginNs : std::numeric_limits<std::int64_t>::max();
    });
    Merger merger(std::move(windows.front()));
    merger.addFirst();
    for (std::size_t i = 1; i < windows.size(); ++i) {
        merger.add(windows[i]);
        windows[i].events.reset(); // its memory is for the next
    }
    return merger.finish();
}

} // namespace rankscope::tracing
