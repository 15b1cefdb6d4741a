#include "backend/schedule/player.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace rankscope::backend {

namespace {

/// Runs a schedule event by event: ends_[stage][kind][microBatch] is when an action ended, absent while it has not run.
class Run {
public:
    Run(const Schedule& schedule, const ActionTimes& times)
        : schedule_(schedule)
        , times_(times)
        , stages_(schedule.actions.size())
        , next_(stages_, 0)
        , clock_(stages_, 0)
        , played_{ .duration = 0, .stages = std::vector<Played::Stage>(stages_) }
    {
        const std::vector<std::optional<std::int64_t>> none(static_cast<std::size_t>(schedule.microBatches));
        ends_.assign(stages_, { none, none });
        while (anyStageMoves()) { }
    }

    std::optional<std::size_t> stuckStage() const
    {
        for (std::size_t stage = 0; stage < stages_; ++stage) {
            if (next_[stage] < schedule_.actions[stage].size())
                return stage;
        }
        return std::nullopt;
    }
    const Action& nextAction(std::size_t stage) const { return schedule_.actions[stage][next_[stage]]; }

    Played finish()
    {
        for (const std::int64_t clock : clock_)
            played_.duration = std::max(played_.duration, clock);
        for (std::size_t stage = 0; stage < stages_; ++stage) {
            played_.stages[stage].drain = played_.duration - clock_[stage];
            played_.stages[stage].peakActivations = peakActivations(schedule_, static_cast<int>(stage));
        }
        return played_;
    }

private:
    using Ends = std::vector<std::optional<std::int64_t>>;

    Ends& ends(std::size_t stage, ActionKind kind) { return ends_[stage][kind == ActionKind::Forward ? 0 : 1]; }

    /// When the action's input is there; none while what makes it has not run.
    std::optional<std::int64_t> inputAt(std::size_t stage, const Action& action)
    {
        const auto microBatch = static_cast<std::size_t>(action.microBatch);
        if (action.kind == ActionKind::Forward)
            return stage == 0 ? std::optional<std::int64_t>(0)
                              : arrival(ends(stage - 1, ActionKind::Forward)[microBatch]);
        if (stage + 1 == stages_)
            return ends(stage, ActionKind::Forward)[microBatch];
        return arrival(ends(stage + 1, ActionKind::Backward)[microBatch]);
    }
    std::optional<std::int64_t> arrival(std::optional<std::int64_t> sent) const
    {
        return sent ? std::optional(*sent + times_.transfer) : std::nullopt;
    }

    bool anyStageMoves()
    {
        bool moved = false;
        for (std::size_t stage = 0; stage < stages_; ++stage) {
            while (next_[stage] < schedule_.actions[stage].size() && runNext(stage))
                moved = true;
        }
        return moved;
    }

    bool runNext(std::size_t stage)
    {
        const Action& action = nextAction(stage);
        const std::optional<std::int64_t> input = inputAt(stage, action);
        if (!input)
            return false;
        const std::int64_t begin = std::max(clock_[stage], *input);
        const std::int64_t length = action.kind == ActionKind::Forward ? times_.forward : times_.backward;
        Played::Stage& played = played_.stages[stage];
        (next_[stage] == 0 ? played.fill : played.steady) += begin - clock_[stage];
        played.busy += length;
        clock_[stage] = begin + length;
        ends(stage, action.kind)[static_cast<std::size_t>(action.microBatch)] = clock_[stage];
        ++next_[stage];
        return true;
    }

    const Schedule& schedule_;
    ActionTimes times_;
    std::size_t stages_;
    std::vector<std::size_t> next_;
    std::vector<std::int64_t> clock_;
    std::vector<std::vector<Ends>> ends_;
    Played played_;
};

std::string describe(std::size_t stage, const Action& action)
{
    return std::string(action.kind == ActionKind::Forward ? "forward" : "backward") + " of micro-batch "
        + std::to_string(action.microBatch) + " on stage " + std::to_string(stage);
}

std::optional<std::string> faultInOrder(const Schedule& schedule, std::size_t stage)
{
    std::set<std::pair<ActionKind, int>> seen;
    for (const Action& action : schedule.actions[stage]) {
        if (action.microBatch < 0 || action.microBatch >= schedule.microBatches)
            return describe(stage, action) + " is none of the step's";
        if (action.kind == ActionKind::Backward && !seen.contains({ ActionKind::Forward, action.microBatch }))
            return describe(stage, action) + " comes before its forward";
        if (!seen.insert({ action.kind, action.microBatch }).second)
            return describe(stage, action) + " comes twice";
    }
    if (seen.size() != 2 * static_cast<std::size_t>(schedule.microBatches))
        return "stage " + std::to_string(stage) + " leaves out an action";
    return std::nullopt;
}

} // namespace

std::optional<std::string> faultOf(const Schedule& schedule)
{
    if (schedule.actions.size() != static_cast<std::size_t>(schedule.stages))
        return "a list of actions is missing";
    for (std::size_t stage = 0; stage < schedule.actions.size(); ++stage) {
        if (auto fault = faultInOrder(schedule, stage))
            return fault;
    }
    const Run run(schedule, {});
    if (const auto stuck = run.stuckStage())
        return describe(*stuck, run.nextAction(*stuck)) + " waits for ever";
    return std::nullopt;
}

Played play(const Schedule& schedule, const ActionTimes& times) { return Run(schedule, times).finish(); }

} // namespace rankscope::backend
