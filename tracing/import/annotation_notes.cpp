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

void AnnotationNotes::linkLaunches(std::span<Launch> launches)
{
    if (trace_.actions.empty())
        return;
    std::ranges::sort(launches, {}, &Launch::beginNs);
    std::vector<std::uint32_t> open; // the last one begun is on top
    std::uint32_t next = 0;
    for (const Launch& launch : launches) {
        for (; next < trace_.actions.size() && trace_.actions[next].beginNs <= launch.beginNs; ++next)
            open.push_back(next);
        while (!open.empty() && trace_.actions[open.back()].endNs <= launch.beginNs)
            open.pop_back();
        if (!open.empty())
            trace_.actionLaunches.push_back({ launch.correlation, open.back() });
    }
    std::ranges::stable_sort(trace_.actionLaunches, {}, &ActionLaunch::correlation);
    for (SourcePart& part : trace_.parts) {
        if (const SourceAction* action = actionOf(trace_, part.correlation); action && action->microBatch >= 0)
            part.microBatch = action->microBatch;
    }
}

} // namespace rankscope::tracing
