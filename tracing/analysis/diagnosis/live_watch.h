#pragma once

#include "tracing/analysis/diagnosis/step_reader.h"
#include "tracing/analysis/diagnosis/watched_rule.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rankscope::tracing::diagnosis {

/// Name, default threshold and steps (METRICS 7), and meaning.
struct DetectorKind {
    std::string_view name;
    double threshold = 0;
    int steps = 1;
    std::string_view meaning;
};
std::span<const DetectorKind> detectorKinds();
std::span<const std::string_view> detectorActions();

/// Holds each new step against the rules. A step costs time in proportion to its own rows; what is kept of the past are
/// some numbers a step of the last Baseline::kMost ones.
class LiveWatch {
public:
    explicit LiveWatch(const std::vector<DetectorRule>& rules);

    /// What is new in the file. Hangs are not seen here: a rank that hangs ends no step.
    Result<std::vector<Alert>> poll(TraceReader& reader);

    /// The same for one step, in order.
    void take(const StepMeasures& step, std::vector<Alert>& alerts);

    /// The usual length of a step; none while too little is known.
    std::optional<double> usualStepNs() const { return lengths_.usual(); }

private:
    static void straggler(WatchedRule& rule, const StepMeasures& step, std::vector<Alert>& alerts);
    static void stepTime(WatchedRule& rule, const StepMeasures& step, std::vector<Alert>& alerts);
    static void waitShare(WatchedRule& rule, const StepMeasures& step, std::vector<Alert>& alerts);
    static void transfer(WatchedRule& rule, const StepMeasures& step, std::vector<Alert>& alerts);
    Status counters(TraceReader& reader, std::vector<Alert>& alerts);
    /// The step that ended last before that moment.
    struct Ended {
        std::int64_t step = 0; ///< 0: none
        std::int64_t beginNs = 0;
    };
    Ended stepBefore(std::int64_t timeNs) const;
    void take(const Lane& lane, const CounterSample& sample, std::vector<Alert>& alerts);
    Status recording(TraceReader& reader, std::vector<Alert>& alerts);

    std::vector<WatchedRule> rules_;
    StepReader steps_;
    Baseline lengths_; ///< of steps, ns
    Baseline exchanges_; ///< median of a step's exchanges, ns
    std::map<LaneId, std::int64_t> seenUntilNs_; ///< of counters
    std::map<std::int64_t, Ended> ends_; ///< of the last steps, by when the first rank ended it
    std::int64_t step_ = 0; ///< last one taken
};

} // namespace rankscope::tracing::diagnosis
