#include "tracing/model/pipeline_schedule.h"

#include <algorithm>
#include <array>

namespace rankscope::tracing {

using enum ActionKind;

namespace {

Schedule empty(std::string_view name, int stages, int microBatches, int chunks = 1)
{
    return { .name = std::string(name),
        .stages = stages,
        .microBatches = microBatches,
        .chunks = chunks,
        .actions = std::vector<std::vector<Action>>(static_cast<std::size_t>(stages)) };
}

/// The k-th pass over a stage's chunks: `stages` micro-batches of a chunk, then of the next one.
Action interleavedAction(const Schedule& schedule, ActionKind kind, int k)
{
    const int lot = schedule.stages * schedule.chunks;
    const int chunk = k % lot / schedule.stages;
    return { .kind = kind,
        .microBatch = k / lot * schedule.stages + k % schedule.stages,
        .chunk = kind == Forward ? chunk : schedule.chunks - 1 - chunk };
}

template <typename Counts> int peakWhere(const Schedule& schedule, int stage, const Counts& counts)
{
    const std::vector<Action>& actions = schedule.actions[static_cast<std::size_t>(stage)];
    int kept = 0, peak = 0;
    for (const Action& action : actions) {
        if (!counts(action))
            continue;
        if (action.kind == Forward)
            ++kept;
        else if (action.kind != BackwardInput)
            --kept;
        peak = std::max(peak, kept);
    }
    return peak;
}

} // namespace

Schedule gpipe(int stages, int microBatches)
{
    Schedule schedule = empty("gpipe", stages, microBatches);
    for (std::vector<Action>& actions : schedule.actions) {
        for (const ActionKind kind : { Forward, Backward }) {
            for (int microBatch = 0; microBatch < microBatches; ++microBatch)
                actions.push_back({ .kind = kind, .microBatch = microBatch });
        }
    }
    return schedule;
}

Schedule oneForwardOneBackward(int stages, int microBatches)
{
    Schedule schedule = empty("1f1b", stages, microBatches);
    for (int stage = 0; stage < stages; ++stage) {
        std::vector<Action>& actions = schedule.actions[static_cast<std::size_t>(stage)];
        const int ahead = std::min(stages - 1 - stage, microBatches);
        for (int forward = 0; forward < ahead; ++forward)
            actions.push_back({ .kind = Forward, .microBatch = forward });
        for (int forward = ahead; forward < microBatches; ++forward) {
            actions.push_back({ .kind = Forward, .microBatch = forward });
            actions.push_back({ .kind = Backward, .microBatch = forward - ahead });
        }
        for (int backward = microBatches - ahead; backward < microBatches; ++backward)
            actions.push_back({ .kind = Backward, .microBatch = backward });
    }
    return schedule;
}

Schedule interleaved(int stages, int microBatches, int chunks)
{
    Schedule schedule = empty("interleaved", stages, microBatches, chunks);
    const int total = microBatches * chunks;
    for (int stage = 0; stage < stages; ++stage) {
        std::vector<Action>& actions = schedule.actions[static_cast<std::size_t>(stage)];
        const int ahead = std::min(total, 2 * (stages - 1 - stage) + (chunks - 1) * stages);
        for (int k = 0; k < total + ahead; ++k) {
            if (k < total)
                actions.push_back(interleavedAction(schedule, Forward, k));
            if (k >= ahead)
                actions.push_back(interleavedAction(schedule, Backward, k - ahead));
        }
    }
    return schedule;
}

Schedule zeroBubbleH1(int stages, int microBatches)
{
    Schedule schedule = empty("zb-h1", stages, microBatches);
    for (int stage = 0; stage < stages; ++stage) {
        std::vector<Action>& actions = schedule.actions[static_cast<std::size_t>(stage)];
        const int ahead = std::min(stages - 1 - stage, microBatches);
        for (int k = 0; k < ahead + microBatches + stage; ++k) {
            if (k < microBatches)
                actions.push_back({ .kind = Forward, .microBatch = k });
            if (k >= ahead && k - ahead < microBatches)
                actions.push_back({ .kind = BackwardInput, .microBatch = k - ahead });
            if (k - ahead - stage >= 0)
                actions.push_back({ .kind = BackwardWeight, .microBatch = k - ahead - stage });
        }
    }
    return schedule;
}

std::span<const std::string_view> scheduleNames()
{
    static constexpr std::array<std::string_view, 4> names{ "1f1b", "gpipe", "interleaved", "zb-h1" };
    return names;
}

std::optional<Schedule> scheduleByName(std::string_view name, int stages, int microBatches, int chunks)
{
    if (stages < 1 || microBatches < 1)
        return std::nullopt;
    if (name == "1f1b")
        return oneForwardOneBackward(stages, microBatches);
    if (name == "gpipe")
        return gpipe(stages, microBatches);
    if (name == "zb-h1")
        return zeroBubbleH1(stages, microBatches);
    if (name == "interleaved" && chunks >= 1 && microBatches % stages == 0)
        return interleaved(stages, microBatches, chunks);
    return std::nullopt;
}

bool splitsBackward(const Schedule& schedule)
{
    return std::ranges::any_of(
        schedule.actions.front(), [](const Action& action) { return action.kind == BackwardWeight; });
}

int peakActivations(const Schedule& schedule, int stage, int chunk)
{
    return peakWhere(schedule, stage, [&](const Action& action) { return action.chunk == chunk; });
}

int peakActivations(const Schedule& schedule, int stage)
{
    return peakWhere(schedule, stage, [](const Action&) { return true; });
}

} // namespace rankscope::tracing
