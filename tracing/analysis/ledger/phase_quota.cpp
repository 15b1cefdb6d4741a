#include "tracing/analysis/ledger/bubbles.h"
#include "tracing/analysis/ledger/largest_remainder.h"

#include <algorithm>

namespace rankscope::tracing::ledger {

namespace {

bool isForward(const Action& action) { return action.kind == ActionKind::Forward; }

/// Times of a run with equal stages, no transfer and no host, scaled so that forward and backward are whole numbers.
class EqualStages {
public:
    EqualStages(const Schedule& schedule, Ns forward, Ns backward, Ns weight)
        : schedule_(schedule)
        , forward_(forward)
        , backward_(backward)
        , weight_(weight)
        , doneForward_(size() * static_cast<std::size_t>(schedule.chunks),
              std::vector<Ns>(static_cast<std::size_t>(schedule.microBatches), -1))
        , doneBackward_(doneForward_)
        , spans_(size())
    {
        play();
    }

    PhaseQuota idle(std::int32_t stage) const
    {
        Ns end = 0;
        for (const auto& spans : spans_)
            end = std::max(end, spans.empty() ? 0 : spans.back().end);
        const auto& spans = spans_[static_cast<std::size_t>(stage)];
        const auto& actions = schedule_.actions[static_cast<std::size_t>(stage)];
        Ns firstForward = end, firstBackward = end, lastForward = 0, lastBackward = 0;
        for (std::size_t i = 0; i < spans.size(); ++i) {
            Ns& first = isForward(actions[i]) ? firstForward : firstBackward;
            Ns& last = isForward(actions[i]) ? lastForward : lastBackward;
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
    std::size_t partOf(std::size_t stage, const Action& action) const
    {
        return static_cast<std::size_t>(action.chunk) * size() + stage;
    }

    /// When what the action needs is there; -1: not yet known.
    Ns readyAt(std::size_t stage, const Action& action) const
    {
        const std::size_t part = partOf(stage, action);
        const auto mb = static_cast<std::size_t>(action.microBatch);
        if (action.kind == ActionKind::BackwardWeight)
            return doneBackward_[part][mb];
        if (isForward(action))
            return part == 0 ? 0 : doneForward_[part - 1][mb];
        return part + 1 == doneForward_.size() ? doneForward_[part][mb] : doneBackward_[part + 1][mb];
    }

    Ns lengthOf(ActionKind kind) const
    {
        switch (kind) {
        case ActionKind::Forward:
            return forward_;
        case ActionKind::Backward:
            return backward_;
        case ActionKind::BackwardInput:
            return backward_ - weight_;
        case ActionKind::BackwardWeight:
            return weight_;
        }
        return 0;
    }

    void play()
    {
        while (anyStageMoves()) { }
    }

    bool anyStageMoves()
    {
        bool moved = false;
        for (std::size_t stage = 0; stage < size(); ++stage) {
            while (spans_[stage].size() < schedule_.actions[stage].size() && playNext(stage))
                moved = true;
        }
        return moved;
    }

    bool playNext(std::size_t stage)
    {
        std::vector<Span>& spans = spans_[stage];
        const Action& action = schedule_.actions[stage][spans.size()];
        const Ns ready = readyAt(stage, action);
        if (ready < 0)
            return false;
        const Ns begin = std::max(ready, spans.empty() ? 0 : spans.back().end);
        spans.push_back({ begin, begin + lengthOf(action.kind) });
        if (action.kind != ActionKind::BackwardWeight)
            (isForward(action) ? doneForward_
                               : doneBackward_)[partOf(stage, action)][static_cast<std::size_t>(action.microBatch)]
                = spans.back().end;
        return true;
    }

    const Schedule& schedule_;
    const Ns forward_, backward_, weight_;
    std::vector<std::vector<Ns>> doneForward_, doneBackward_; ///< by part of the model and micro-batch
    std::vector<std::vector<Span>> spans_; ///< by stage
};

} // namespace

PhaseQuota phaseQuota(const Schedule& schedule, std::int32_t stage, const PassSums& sums)
{
    if (sums.forwards <= 0 || sums.backwards <= 0 || stage < 0 || stage >= schedule.stages)
        return {};
    if (schedule.name == "1f1b" && schedule.microBatches >= schedule.stages) {
        const std::int64_t after = schedule.stages - 1 - stage;
        const auto forwards = [&](std::int64_t factor) { return mulDiv(factor, sums.forward, sums.forwards); };
        const auto backwards = [&](std::int64_t factor) { return mulDiv(factor, sums.backward, sums.backwards); };
        return { forwards(stage), backwards(after), 0, forwards(after), backwards(stage) };
    }
    return EqualStages(
        schedule, sums.forward / sums.forwards, sums.backward / sums.backwards, sums.weight / sums.backwards)
        .idle(stage);
}

} // namespace rankscope::tracing::ledger
