#include "tracing/analysis/ledger/bubbles.h"
#include "tracing/analysis/ledger/largest_remainder.h"

#include <algorithm>

namespace rankscope::tracing::ledger {

namespace {

struct Action {
    bool forward = true;
    std::int32_t microBatch = 0;
};

std::vector<Action> actionsOf(const PipelineSchedule& schedule, std::int32_t stage)
{
    const std::int32_t m = schedule.microBatches;
    std::vector<Action> actions;
    std::int32_t warm = m;
    if (schedule.kind == PipelineSchedule::Kind::OneForwardOneBackward)
        warm = std::min(m, schedule.stages - 1 - stage);
    for (std::int32_t i = 0; i < warm; ++i)
        actions.push_back({ true, i });
    for (std::int32_t i = warm; i < m; ++i) {
        actions.push_back({ true, i });
        actions.push_back({ false, i - warm });
    }
    for (std::int32_t i = std::max(0, m - warm); i < m; ++i)
        actions.push_back({ false, i });
    return actions;
}

/// Times of a run with equal stages, no transfer and no host, scaled so that forward and backward are whole numbers.
class EqualStages {
public:
    EqualStages(const PipelineSchedule& schedule, Ns forward, Ns backward)
        : schedule_(schedule)
        , forward_(forward)
        , backward_(backward)
        , doneForward_(size(), std::vector<Ns>(static_cast<std::size_t>(schedule.microBatches), -1))
        , doneBackward_(doneForward_)
    {
        for (std::int32_t s = 0; s < schedule.stages; ++s)
            actions_.push_back(actionsOf(schedule, s));
        spans_.resize(size());
        play();
    }

    PhaseQuota idle(std::int32_t stage) const
    {
        Ns end = 0;
        for (const auto& spans : spans_)
            end = std::max(end, spans.empty() ? 0 : spans.back().end);
        const auto& spans = spans_[static_cast<std::size_t>(stage)];
        const auto& actions = actions_[static_cast<std::size_t>(stage)];
        Ns firstForward = end, firstBackward = end, lastForward = 0, lastBackward = 0;
        for (std::size_t i = 0; i < spans.size(); ++i) {
            Ns& first = actions[i].forward ? firstForward : firstBackward;
            Ns& last = actions[i].forward ? lastForward : lastBackward;
            first = std::min(first, spans[i].begin);
            last = std::max(last, spans[i].end);
        }
        const std::array<Ns, 6> edges{ 0, firstForward, firstBackward, std::max(firstBackward, lastForward),
            lastBackward, end };
        PhaseQuota quota{};
        for (std::size_t phase = 0; phase < quota.size(); ++phase) {
            Ns busy = 0;
            for (const Span& span : spans)
                busy += std::max<Ns>(0, std::min(span.end, edges[phase + 1]) - std::max(span.begin, edges[phase]));
            quota[phase] = edges[phase + 1] - edges[phase] - busy;
        }
        return quota;
    }

private:
    struct Span {
        Ns begin = 0;
        Ns end = 0;
    };
    std::size_t size() const { return static_cast<std::size_t>(schedule_.stages); }

    /// When what the action needs is there; -1: not yet known.
    Ns readyAt(std::int32_t stage, const Action& action) const
    {
        const auto s = static_cast<std::size_t>(stage);
        const auto mb = static_cast<std::size_t>(action.microBatch);
        if (action.forward)
            return stage == 0 ? 0 : doneForward_[s - 1][mb];
        return stage + 1 == schedule_.stages ? doneForward_[s][mb] : doneBackward_[s + 1][mb];
    }

    void play()
    {
        std::vector<std::size_t> next(size(), 0);
        std::vector<Ns> free(size(), 0);
        for (bool moved = true; moved;) {
            moved = false;
            for (std::int32_t stage = 0; stage < schedule_.stages; ++stage) {
                const auto s = static_cast<std::size_t>(stage);
                while (next[s] < actions_[s].size()) {
                    const Action action = actions_[s][next[s]];
                    const Ns ready = readyAt(stage, action);
                    if (ready < 0)
                        break;
                    const Ns begin = std::max(ready, free[s]);
                    free[s] = begin + (action.forward ? forward_ : backward_);
                    spans_[s].push_back({ begin, free[s] });
                    (action.forward ? doneForward_ : doneBackward_)[s][static_cast<std::size_t>(action.microBatch)]
                        = free[s];
                    ++next[s];
                    moved = true;
                }
            }
        }
    }

    const PipelineSchedule schedule_;
    const Ns forward_, backward_;
    std::vector<std::vector<Ns>> doneForward_, doneBackward_;
    std::vector<std::vector<Action>> actions_;
    std::vector<std::vector<Span>> spans_;
};

} // namespace

PhaseQuota phaseQuota(const PipelineSchedule& schedule, std::int32_t stage, Ns forwardSum, std::int64_t forwards,
    Ns backwardSum, std::int64_t backwards)
{
    if (forwards <= 0 || backwards <= 0 || stage < 0 || stage >= schedule.stages)
        return {};
    const auto scaled = [](std::int64_t factor, Ns sum, std::int64_t number) { return mulDiv(factor, sum, number); };
    if (schedule.kind == PipelineSchedule::Kind::OneForwardOneBackward && schedule.microBatches >= schedule.stages) {
        const std::int64_t after = schedule.stages - 1 - stage;
        return { scaled(stage, forwardSum, forwards), scaled(after, backwardSum, backwards), 0,
            scaled(after, forwardSum, forwards), scaled(stage, backwardSum, backwards) };
    }
    return EqualStages(schedule, forwardSum / forwards, backwardSum / backwards).idle(stage);
}

} // namespace rankscope::tracing::ledger
