#include "tracing/analysis/ledger/lifecycle.h"

#include <algorithm>

namespace rankscope::tracing::ledger {

namespace {

constexpr Ns kFromTheStart = std::numeric_limits<Ns>::min();

Ns firstBegin(const StepMark& step)
{
    Ns begin = std::numeric_limits<Ns>::max();
    for (const auto& [rank, at] : step.begin)
        begin = std::min(begin, at);
    return begin;
}

/// Latest end of a closed, or begin of an open, event before the limit.
template <typename Op> void raiseProgress(const std::vector<Op>& ops, Ns limit, Ns& latest)
{
    for (const Op& op : ops) {
        if (op.end <= limit)
            latest = std::max(latest, op.end);
        else if (op.begin < limit)
            latest = std::max(latest, op.begin);
    }
}

} // namespace

LifecycleMap::LifecycleMap(const LedgerInput& input)
    : input_(input)
{
    if (input.lifecycle)
        addAttempts(*input.lifecycle);
    else
        addStretchSteps();
}

void LifecycleMap::addStretchSteps()
{
    for (const RankInput& rank : input_.ranks) {
        for (const Stretch& stretch : rank.stretches) {
            if (stretch.step)
                stepOfStretch_.try_emplace(*stretch.step, 0);
        }
    }
    if (stepOfStretch_.empty()) {
        steps_.push_back({ 0, 1, StepState::Committed, kFromTheStart, kStillOpen });
        return;
    }
    for (auto& [step, index] : stepOfStretch_) {
        index = static_cast<std::int32_t>(steps_.size());
        StepInfo info{ step, 1, StepState::Committed, std::numeric_limits<Ns>::max(), kFromTheStart };
        for (const RankInput& rank : input_.ranks) {
            for (const Stretch& stretch : rank.stretches) {
                if (stretch.step == step) {
                    info.begin = std::min(info.begin, stretch.begin);
                    info.end = std::max(info.end, stretch.end);
                }
            }
        }
        steps_.push_back(info);
    }
}

Ns LifecycleMap::windowEnd() const
{
    Ns end = 0;
    for (const RankInput& rank : input_.ranks) {
        if (!rank.stretches.empty())
            end = std::max(end, rank.stretches.back().end);
    }
    return end;
}

Ns LifecycleMap::lastProgress(const Failure& failure) const
{
    Ns earliest = failure.detected;
    for (const RankInput& rank : input_.ranks) {
        if (std::ranges::find(failure.faulty, rank.rank) == failure.faulty.end())
            continue;
        Ns latest = kFromTheStart;
        raiseProgress(rank.compute, failure.detected, latest);
        raiseProgress(rank.parts, failure.detected, latest);
        raiseProgress(rank.copies, failure.detected, latest);
        raiseProgress(rank.annotations, failure.detected, latest);
        if (latest != kFromTheStart)
            earliest = std::min(earliest, latest);
    }
    return earliest;
}

StepState stateOf(const Lifecycle& lifecycle, std::size_t attempt, std::int64_t step)
{
    for (std::size_t f = attempt; f < lifecycle.failures.size(); ++f) {
        if (step > lifecycle.failures[f].restoredStep)
            return StepState::Lost;
    }
    if (lifecycle.finalStateAccepted)
        return StepState::Committed;
    std::int64_t firm = std::numeric_limits<std::int64_t>::min();
    Ns newest = kFromTheStart;
    for (const PublishedCheckpoint& checkpoint : lifecycle.checkpoints) {
        if (checkpoint.published >= newest) {
            newest = checkpoint.published;
            firm = checkpoint.step;
        }
    }
    return step > firm ? StepState::Provisional : StepState::Committed;
}

void LifecycleMap::addAttempt(const Lifecycle& lifecycle, std::size_t a)
{
    const Attempt& attempt = lifecycle.attempts[a];
    Ns end = lifecycle.shutdown.value_or(windowEnd());
    if (a < lifecycle.failures.size())
        end = lifecycle.failures[a].detected;
    for (std::size_t s = 0; s < attempt.steps.size(); ++s) {
        StepInfo info;
        info.step = attempt.steps[s].step;
        info.attempt = static_cast<std::int32_t>(a) + 1;
        info.state = stateOf(lifecycle, a, info.step);
        info.begin = firstBegin(attempt.steps[s]);
        info.end = s + 1 < attempt.steps.size() ? firstBegin(attempt.steps[s + 1]) : end;
        const Label label = info.state == StepState::Lost ? Label::Lost : Label::Compute;
        spans_.push_back({ info.begin, info.end, label, static_cast<std::int32_t>(steps_.size()) });
        steps_.push_back(info);
    }
}

void LifecycleMap::addAttempts(const Lifecycle& lifecycle)
{
    const auto firstStepOf = [&](std::size_t a, Ns otherwise) {
        return a < lifecycle.attempts.size() && !lifecycle.attempts[a].steps.empty()
            ? firstBegin(lifecycle.attempts[a].steps.front())
            : otherwise;
    };
    spans_.push_back({ kFromTheStart, firstStepOf(0, windowEnd()), Label::Start, -1 });
    for (std::size_t f = 0; f < lifecycle.failures.size(); ++f) {
        const Failure& failure = lifecycle.failures[f];
        const Ns reformed = failure.reformed.value_or(windowEnd());
        spans_.push_back({ lastProgress(failure), failure.detected, Label::DownDetect, -1 });
        spans_.push_back({ failure.detected, reformed, Label::DownRestart, -1 });
        spans_.push_back({ reformed, firstStepOf(f + 1, windowEnd()), Label::DownRestore, -1 });
    }
    if (lifecycle.shutdown)
        spans_.push_back({ *lifecycle.shutdown, kStillOpen, Label::Shutdown, -1 });
    for (std::size_t a = 0; a < lifecycle.attempts.size(); ++a)
        addAttempt(lifecycle, a);
    // First match: START, DOWN, LOST, PLANNED (by rank, below), SHUTDOWN, committed.
    const auto precedence = [](const LifecycleSpan& span) {
        switch (span.label) {
        case Label::Start:
            return 0;
        case Label::DownDetect:
            return 1;
        case Label::DownRestart:
            return 2;
        case Label::DownRestore:
            return 3;
        case Label::Lost:
            return 4;
        case Label::Shutdown:
            return 6;
        default:
            return 7;
        }
    };
    std::ranges::stable_sort(spans_, {}, precedence);
}

std::vector<LifecycleSpan> LifecycleMap::spansOf(std::size_t rankIndex) const
{
    const RankInput& rank = input_.ranks[rankIndex];
    std::vector<Annotation> planned;
    std::ranges::copy_if(rank.annotations, std::back_inserter(planned),
        [](const Annotation& a) { return a.kind == AnnotationKind::Planned && a.end > a.begin; });

    std::vector<LifecycleSpan> out;
    for (const Stretch& stretch : rank.stretches) {
        const auto named = stretch.step ? stepOfStretch_.find(*stretch.step) : stepOfStretch_.end();
        const std::int32_t stretchStep = named == stepOfStretch_.end() ? 0 : named->second;
        std::vector<Ns> cuts{ stretch.begin, stretch.end };
        const auto cut = [&](Ns at) {
            if (at > stretch.begin && at < stretch.end)
                cuts.push_back(at);
        };
        for (const LifecycleSpan& span : spans_) {
            cut(span.begin);
            cut(span.end);
        }
        for (const Annotation& a : planned) {
            cut(a.begin);
            cut(a.end);
        }
        std::ranges::sort(cuts);
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
            LifecycleSpan piece{ cuts[i], cuts[i + 1], Label::Compute, stretchStep };
            const auto covers = [&](const auto& span) { return span.begin <= piece.begin && piece.end <= span.end; };
            if (input_.lifecycle) {
                const auto match = std::ranges::find_if(spans_, covers);
                piece.label = match == spans_.end() ? Label::Unattributed : match->label;
                piece.step = match == spans_.end() ? -1 : match->step;
                // DOWN.detect lies inside a step attempt; it belongs to no step's rows.
            }
            const bool settled = piece.label != Label::Compute && piece.label != Label::Shutdown;
            if (!settled && std::ranges::any_of(planned, covers))
                piece.label = Label::Planned;
            if (!out.empty() && out.back().end == piece.begin && out.back().label == piece.label
                && out.back().step == piece.step && piece.begin != stretch.begin)
                out.back().end = piece.end;
            else
                out.push_back(piece);
        }
    }
    return out;
}

} // namespace rankscope::tracing::ledger
