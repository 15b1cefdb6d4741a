#include "tracing/import/annotation_notes.h"

#include <algorithm>
#include <map>

namespace rankscope::tracing {

const AnnotationMeaning& AnnotationNotes::of(std::uint32_t name)
{
    if (name >= meanings_.size())
        meanings_.resize(std::max<std::size_t>(name + 1, trace_.strings.size()));
    std::optional<AnnotationMeaning>& known = meanings_[name];
    if (!known)
        known = rules_.annotation(trace_.strings[name]);
    return *known;
}

void AnnotationNotes::describe(SourceEvent& range)
{
    const AnnotationMeaning& meaning = of(range.name);
    range.kind = SourceKind::Range;
    range.range = meaning.kind;
    range.pass = meaning.pass;
    range.microBatch = meaning.microBatch.value_or(-1);
    range.extra = meaning.step.value_or(SourceEvent::kNone);
}

void AnnotationNotes::note(std::uint32_t name, std::int64_t beginNs, std::int64_t endNs)
{
    const AnnotationMeaning& meaning = of(name);
    if (meaning.pass != Pass::None) {
        trace_.actions.push_back({ beginNs, endNs, meaning.pass, meaning.counts, meaning.microBatch.value_or(-1),
            meaning.stage.value_or(-1) });
    } else if (meaning.kind == RangeKind::Step && meaning.step) {
        // Two tools' steps in one file would overlap.
        if (stepRule_ && meaning.rule > *stepRule_)
            return;
        if (stepRule_ && meaning.rule < *stepRule_)
            trace_.steps.clear();
        stepRule_ = meaning.rule;
        trace_.steps.push_back({ *meaning.step, beginNs, endNs });
    }
}

void AnnotationNotes::finish()
{
    std::ranges::sort(trace_.steps, {}, &SourceStep::beginNs);
    // The outer one first: the inner one is what counts.
    std::ranges::stable_sort(trace_.actions, [](const SourceAction& a, const SourceAction& b) {
        return a.beginNs != b.beginNs ? a.beginNs < b.beginNs : a.endNs > b.endNs;
    });
    count();
    inherit();
}

/// A forward inside a backward is the recomputation of activations.
void AnnotationNotes::inherit()
{
    std::vector<const SourceAction*> open;
    for (SourceAction& action : trace_.actions) {
        while (!open.empty() && open.back()->endNs <= action.beginNs)
            open.pop_back();
        if (!open.empty() && open.back()->endNs >= action.endNs) {
            const SourceAction& around = *open.back();
            if (action.pass == Pass::Forward && (around.pass == Pass::Backward || around.pass == Pass::Recompute))
                action.pass = Pass::Recompute;
            if (action.microBatch < 0)
                action.microBatch = around.microBatch;
            if (action.stage < 0)
                action.stage = around.stage;
        }
        open.push_back(&action);
    }
}

void AnnotationNotes::count()
{
    struct Count {
        std::int32_t next = 0;
        std::int64_t endNs = std::numeric_limits<std::int64_t>::min(); ///< of the last one: what lies in it is the same
    };
    std::map<Pass, Count> counts;
    auto step = trace_.steps.begin();
    for (SourceAction& action : trace_.actions) {
        for (; step != trace_.steps.end() && step->beginNs <= action.beginNs; ++step)
            counts.clear();
        if (!action.counted)
            continue;
        Count& count = counts[action.pass];
        if (action.beginNs >= count.endNs) {
            ++count.next;
            count.endNs = action.endNs;
        }
        action.microBatch = count.next - 1;
    }
}

/// Finds the innermost action around instants that come in order.
class AnnotationNotes::Sweep {
public:
    explicit Sweep(const std::vector<SourceAction>& actions)
        : actions_(actions)
    {
    }

    std::optional<std::uint32_t> at(std::int64_t ns)
    {
        for (; next_ < actions_.size() && actions_[next_].beginNs <= ns; ++next_)
            open_.push_back(next_);
        while (!open_.empty() && actions_[open_.back()].endNs <= ns)
            open_.pop_back();
        return open_.empty() ? std::nullopt : std::optional(open_.back());
    }

private:
    const std::vector<SourceAction>& actions_;
    std::vector<std::uint32_t> open_; ///< the last one begun is on top
    std::uint32_t next_ = 0;
};

void AnnotationNotes::linkLaunches(std::span<Launch> launches)
{
    if (trace_.actions.empty())
        return;
    std::ranges::sort(launches, {}, &Launch::beginNs);
    Sweep sweep(trace_.actions);
    for (const Launch& launch : launches) {
        if (const auto action = sweep.at(launch.beginNs))
            addLaunch(launch.correlation, *action);
    }
    orderLaunches();
}

Status AnnotationNotes::linkCalls()
{
    for (std::uint32_t lane = 0; lane < trace_.lanes.size() && !trace_.actions.empty(); ++lane) {
        if (trace_.lanes[lane].kind != LaneKind::Host)
            continue;
        Sweep sweep(trace_.actions);
        const Status visited = trace_.events->visit(lane, [&](std::span<const SourceEvent> events) -> Status {
            for (const SourceEvent& event : events) {
                if (event.kind != SourceKind::HostCall || event.correlation == SourceEvent::kNone)
                    continue;
                if (const auto action = sweep.at(event.beginNs))
                    addLaunch(event.correlation, *action);
            }
            return Done{};
        });
        if (!visited)
            return visited;
    }
    orderLaunches();
    return Done{};
}

/// Numbers rise with the calls: those of an action mostly follow one another.
void AnnotationNotes::addLaunch(std::int64_t correlation, std::uint32_t action)
{
    if (!trace_.actionLaunches.empty()) {
        ActionLaunches& last = trace_.actionLaunches.back();
        const auto distance = static_cast<std::uint64_t>(correlation) - static_cast<std::uint64_t>(last.correlation);
        if (last.action == action && correlation > last.correlation && distance == last.count
            && last.count < UINT32_MAX) {
            ++last.count;
            return;
        }
    }
    trace_.actionLaunches.push_back({ correlation, 1, action });
}

void AnnotationNotes::orderLaunches()
{
    std::vector<ActionLaunches>& all = trace_.actionLaunches;
    std::ranges::stable_sort(all, {}, &ActionLaunches::correlation);
    // A number with several calls belongs to the first one.
    std::size_t kept = 0;
    for (ActionLaunches launches : all) {
        if (kept > 0) {
            const std::int64_t last = all[kept - 1].correlation + (all[kept - 1].count - 1);
            if (launches.correlation <= last) {
                const std::int64_t over = last - launches.correlation + 1;
                if (over >= launches.count)
                    continue;
                launches.correlation += over;
                launches.count -= static_cast<std::uint32_t>(over);
            }
        }
        all[kept++] = launches;
    }
    all.resize(kept);
    all.shrink_to_fit();
    for (SourcePart& part : trace_.parts) {
        if (const SourceAction* action = actionOf(trace_, part.correlation); action && action->microBatch >= 0)
            part.microBatch = action->microBatch;
    }
}

} // namespace rankscope::tracing
