#include "tracing/import/pipeline_facts.h"

#include <algorithm>
#include <limits>
#include <set>

namespace rankscope::tracing {

namespace {

/// More would be a damaged or a foreign name.
constexpr std::int32_t kMostStages = 4096, kMostMicroBatches = 65536;

std::set<std::int32_t> stagesOf(const SourceTrace& trace)
{
    std::set<std::int32_t> stages;
    for (const SourceAction& action : trace.actions) {
        if (action.stage >= 0 && action.stage < kMostStages)
            stages.insert(action.stage);
    }
    return stages;
}

/// The only group of the pipeline that the rank is in.
const SourceGroup* pipelineGroupOf(const SourceTrace& trace)
{
    const SourceGroup* found = nullptr;
    for (const SourceGroup& group : trace.groups) {
        const bool mine = group.dimension == Dimension::Pipeline && group.ranks.size() > 1
            && std::ranges::find(group.ranks, trace.rank.value_or(-1)) != group.ranks.end();
        if (mine && found && found->ranks != group.ranks)
            return nullptr;
        if (mine)
            found = &group;
    }
    return found;
}

struct Pipeline {
    std::int32_t stages = 0, chunks = 1, microBatches = 0;
};

/// From names like PP:2F0: a rank with several of the model's stages runs them as chunks of one.
std::optional<Pipeline> fromAnnotations(std::span<SourceTrace> traces)
{
    std::int32_t parts = 0, stages = 0;
    std::size_t chunks = 1;
    for (const SourceTrace& trace : traces) {
        const auto own = stagesOf(trace);
        if (own.empty())
            continue;
        parts = std::max(parts, *own.rbegin() + 1);
        chunks = std::max(chunks, own.size());
        if (const SourceGroup* group = pipelineGroupOf(trace))
            stages = std::max(stages, static_cast<std::int32_t>(group->ranks.size()));
    }
    if (stages == 0)
        stages = parts / static_cast<std::int32_t>(chunks);
    if (parts < 2 || stages < 2 || parts % stages != 0)
        return std::nullopt;
    for (SourceTrace& trace : traces) {
        const auto own = stagesOf(trace);
        if (!own.empty() && !trace.stage && *own.begin() < stages)
            trace.stage = *own.begin();
    }
    return Pipeline{ stages, parts / stages, 0 };
}

std::optional<Pipeline> fromGroups(std::span<SourceTrace> traces)
{
    Pipeline pipeline;
    for (SourceTrace& trace : traces) {
        const SourceGroup* group = pipelineGroupOf(trace);
        if (!group)
            continue;
        pipeline.stages = std::max(pipeline.stages, static_cast<std::int32_t>(group->ranks.size()));
        if (!trace.stage)
            trace.stage
                = static_cast<std::int32_t>(std::ranges::find(group->ranks, *trace.rank) - group->ranks.begin());
    }
    return pipeline.stages > 1 ? std::optional(pipeline) : std::nullopt;
}

/// The actions of the trace's first step that has both passes; all of them where it has no steps.
std::span<const SourceAction> firstStepOf(const SourceTrace& trace)
{
    const std::span<const SourceAction> all(trace.actions);
    for (const SourceStep& step : trace.steps) {
        const auto from = std::ranges::lower_bound(all, step.beginNs, {}, &SourceAction::beginNs);
        const auto to = std::ranges::lower_bound(all, std::max(step.beginNs, step.endNs), {}, &SourceAction::beginNs);
        const auto has = [&](Pass pass) {
            return std::any_of(from, to, [&](const SourceAction& action) { return action.pass == pass; });
        };
        if (has(Pass::Forward) && has(Pass::Backward))
            return { from, to };
    }
    return all;
}

} // namespace

std::string scheduleOf(
    std::span<const SourceAction> firstStage, std::int32_t stages, std::int32_t microBatches, std::int32_t chunks)
{
    std::int64_t firstBackward = std::numeric_limits<std::int64_t>::max();
    bool splits = false;
    for (const SourceAction& action : firstStage) {
        if (action.pass == Pass::Backward)
            firstBackward = std::min(firstBackward, action.beginNs);
        splits = splits || action.pass == Pass::Weight;
    }
    std::set<std::int32_t> before;
    for (const SourceAction& action : firstStage) {
        if (action.pass == Pass::Forward && action.beginNs < firstBackward)
            before.insert(action.microBatch);
    }
    if (chunks > 1)
        return splits ? "" : "interleaved";
    if (splits)
        return "zb-h1";
    return static_cast<std::int32_t>(before.size()) == microBatches && microBatches > stages ? "gpipe" : "1f1b";
}

void findPipeline(std::span<SourceTrace> traces)
{
    std::int32_t microBatches = 0;
    for (const SourceTrace& trace : traces) {
        if (trace.runFacts.contains("config.parallel.pp"))
            return;
        for (const SourceAction& action : trace.actions) {
            if (action.pass == Pass::Forward && action.microBatch < kMostMicroBatches)
                microBatches = std::max(microBatches, action.microBatch + 1);
        }
    }
    if (microBatches == 0)
        return;
    auto pipeline = fromAnnotations(traces);
    if (!pipeline)
        pipeline = fromGroups(traces);
    if (!pipeline)
        return;
    auto& facts = traces.front().runFacts;
    facts["config.parallel.pp"] = std::to_string(pipeline->stages);
    facts["config.batch.micro_batches"] = std::to_string(microBatches);
    if (pipeline->chunks > 1)
        facts["config.parallel.chunks"] = std::to_string(pipeline->chunks);
    const auto first = std::ranges::find(traces, std::optional(0), &SourceTrace::stage);
    if (first == traces.end() || first->actions.empty())
        return; // without the first stage nobody can tell the schedule
    const std::string schedule = scheduleOf(firstStepOf(*first), pipeline->stages, microBatches, pipeline->chunks);
    if (!schedule.empty())
        facts["config.parallel.schedule"] = schedule;
}

} // namespace rankscope::tracing
