#pragma once

#include "tracing/analysis/ledger/ledger_result.h"

namespace rankscope::tracing::ledger {

/// Level 0 of METRICS 5.3: what a rank's time is before one looks inside. Committed time carries its step.
struct LifecycleSpan {
    Ns begin = 0;
    Ns end = 0;
    Label label = Label::Compute; ///< Compute stands for "committed: look inside"
    std::int32_t step = -1;
};

/// Whether what a step made lived on (METRICS 5.3, Level 0). `attempt`: from 0.
StepState stateOf(const Lifecycle& lifecycle, std::size_t attempt, std::int64_t step);

/// Level 0 of one rank, ordered, covering its stretches; steps are appended to `steps` by the first call.
class LifecycleMap {
public:
    explicit LifecycleMap(const LedgerInput& input);

    const std::vector<StepInfo>& steps() const { return steps_; }
    std::vector<LifecycleSpan> spansOf(std::size_t rankIndex) const;

private:
    void addStretchSteps();
    void addAttempts(const Lifecycle& lifecycle);
    void addAttempt(const Lifecycle& lifecycle, std::size_t attempt);
    Ns lastProgress(const Failure& failure) const;
    Ns windowEnd() const;

    const LedgerInput& input_;
    std::vector<StepInfo> steps_;
    std::vector<LifecycleSpan> spans_; ///< job wide, in order of precedence; overlaps allowed
    std::map<std::int64_t, std::int32_t> stepOfStretch_;
};

} // namespace rankscope::tracing::ledger
