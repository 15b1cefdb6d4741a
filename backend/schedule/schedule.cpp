#include "backend/schedule/schedule.h"

#include <algorithm>

namespace rankscope::backend {

Schedule oneForwardOneBackward(int stages, int microBatches)
{
    Schedule schedule{ .name = "1f1b", .stages = stages, .microBatches = microBatches, .actions = {} };
    for (int stage = 0; stage < stages; ++stage) {
        std::vector<Action> actions;
        const int ahead = std::min(stages - 1 - stage, microBatches);
        for (int forward = 0; forward < ahead; ++forward)
            actions.push_back({ .kind = ActionKind::Forward, .microBatch = forward });
        for (int forward = ahead; forward < microBatches; ++forward) {
            actions.push_back({ .kind = ActionKind::Forward, .microBatch = forward });
            actions.push_back({ .kind = ActionKind::Backward, .microBatch = forward - ahead });
        }
        for (int backward = microBatches - ahead; backward < microBatches; ++backward)
            actions.push_back({ .kind = ActionKind::Backward, .microBatch = backward });
        schedule.actions.push_back(std::move(actions));
    }
    return schedule;
}

int peakActivations(const Schedule& schedule, int stage)
{
    int kept = 0;
    int peak = 0;
    for (const Action& action : schedule.actions[static_cast<std::size_t>(stage)]) {
        kept += action.kind == ActionKind::Forward ? 1 : -1;
        peak = std::max(peak, kept);
    }
    return peak;
}

} // namespace rankscope::backend
