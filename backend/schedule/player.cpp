#include "backend/schedule/player.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <tuple>

namespace rankscope::backend {

namespace {

/// Runs a schedule event by event: an action's end is absent while it has not run.
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
        const std::size_t parts = stages_ * static_cast<std::size_t>(schedule.chunks);
        forwardEnds_.resize(parts * static_cast<std::size_t>(schedule.microBatches));
        backwardEnds_ = forwardEnds_;
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

    /// Of the model's part-th part.
    std::optional<std::int64_t>& end(Ends& ends, std::size_t part, const Action& action)
    {
        return ends[part * static_cast<std::size_t>(schedule_.microBatches)
            + static_cast<std::size_t>(action.microBatch)];
    }
    std::size_t partOf(std::size_t stage, const Action& action) const
    {
        return static_cast<std::size_t>(action.chunk) * stages_ + stage;
    }

    /// When the action's input is there; none while what makes it has not run.
    std::optional<std::int64_t> inputAt(std::size_t stage, const Action& action)
    {
        const std::size_t part = partOf(stage, action);
        if (action.kind == ActionKind::BackwardWeight)
            return end(backwardEnds_, part, action);
        if (action.kind == ActionKind::Forward)
            return part == 0 ? std::optional<std::int64_t>(0) : arrival(end(forwardEnds_, part - 1, action));
        if (part + 1 == stages_ * static_cast<std::size_t>(schedule_.chunks))
            return end(forwardEnds_, part, action);
        return arrival(end(backwardEnds_, part + 1, action));
    }
    std::optional<std::int64_t> arrival(std::optional<std::int64_t> sent) const
    {
        return sent ? std::optional(*sent + times_.transfer) : std::nullopt;
    }
    std::int64_t lengthOf(ActionKind kind) const
    {
        switch (kind) {
        case ActionKind::Forward:
            return times_.forward;
        case ActionKind::Backward:
            return times_.backward;
        case ActionKind::BackwardInput:
            return times_.backward - times_.weight;
        case ActionKind::BackwardWeight:
            return times_.weight;
        }
        return 0;
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
        const std::int64_t length = lengthOf(action.kind);
        Played::Stage& played = played_.stages[stage];
        (next_[stage] == 0 ? played.fill : played.steady) += begin - clock_[stage];
        played.busy += length;
        clock_[stage] = begin + length;
        if (action.kind != ActionKind::BackwardWeight)
            end(action.kind == ActionKind::Forward ? forwardEnds_ : backwardEnds_, partOf(stage, action), action)
                = clock_[stage];
        ++next_[stage];
        return true;
    }

    const Schedule& schedule_;
    ActionTimes times_;
    std::size_t stages_;
    std::vector<std::size_t> next_;
    std::vector<std::int64_t> clock_;
    Ends forwardEnds_, backwardEnds_;
    Played played_;
};

std::string describe(std::size_t stage, const Action& action)
{
    static constexpr std::array<const char*, 4> kinds{ "forward", "backward", "input gradients", "weight gradients" };
    return kinds[static_cast<std::size_t>(action.kind)] + std::string(" of micro-batch ")
        + std::to_string(action.microBatch) + (action.chunk > 0 ? ", chunk " + std::to_string(action.chunk) : "")
        + " on stage " + std::to_string(stage);
}

std::optional<std::string> faultInOrder(const Schedule& schedule, std::size_t stage)
{
    using enum ActionKind;
    std::set<std::tuple<ActionKind, int, int>> seen;
    int open = 0; // passes that still lack their end
    for (const Action& action : schedule.actions[stage]) {
        const auto has = [&](ActionKind kind) { return seen.contains({ kind, action.microBatch, action.chunk }); };
        if (action.microBatch < 0 || action.microBatch >= schedule.microBatches || action.chunk < 0
            || action.chunk >= schedule.chunks)
            return describe(stage, action) + " is none of the step's";
        if (action.kind != Forward && !has(Forward))
            return describe(stage, action) + " comes before its forward";
        if (action.kind == BackwardWeight && !has(BackwardInput))
            return describe(stage, action) + " comes before its input gradients";
        if (has(action.kind) || (action.kind == Backward && has(BackwardInput))
            || (action.kind == BackwardInput && has(Backward)))
            return describe(stage, action) + " comes twice";
        seen.insert({ action.kind, action.microBatch, action.chunk });
        open += action.kind == Forward ? 1 : action.kind == BackwardInput ? 0 : -1;
    }
    const int passes = static_cast<int>(std::ranges::count(schedule.actions[stage], Forward, &Action::kind));
    if (open != 0 || passes != schedule.microBatches * schedule.chunks)
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
