#pragma once

#include "tracing/analysis/diagnosis/step_reader.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing::diagnosis {

/// What is watched while a run goes on, what is done about it, and who is told.
struct DetectorRule {
    std::string kind; ///< one of detectorKinds()
    double threshold = 0;
    int steps = 1; ///< that it must hold on end
    std::string owner;
    std::string action = "notify"; ///< one of detectorActions()
};

/// Name, default threshold and steps (METRICS 7), and meaning.
struct DetectorKind {
    std::string_view name;
    double threshold = 0;
    int steps = 1;
    std::string_view meaning;
};
std::span<const DetectorKind> detectorKinds();
std::span<const std::string_view> detectorActions();

struct Alert {
    DetectorRule rule;
    std::string title; ///< "straggler: rank 1 computes 2.1 times as long as its peers"
    std::vector<std::int32_t> ranks; ///< to blame, where one can be named
    std::int64_t step = 0; ///< at which it was seen; 0: at no step
    double value = 0; ///< held against the threshold
    Window window;
};

/// Holds each new step against the rules. A step costs time in proportion to its own rows; what is kept of the past are
/// some numbers a step of the last kBaseline ones. An alert is given once; when what it is about has ended, it may come
/// again.
class LiveWatch {
public:
    explicit LiveWatch(std::vector<DetectorRule> rules);

    /// What is new in the file. Hangs are not seen here: a rank that hangs ends no step.
    Result<std::vector<Alert>> poll(TraceReader& reader);

    /// The same for one step, in order.
    void take(const StepMeasures& step, std::vector<Alert>& alerts);

    static constexpr std::size_t kBaseline = 50;

private:
    struct State {
        int holds = 0; ///< steps on end
        bool isTold = false;
    };
    /// The median of what was usual; none while too little is known.
    class Baseline {
    public:
        std::optional<double> usual() const;
        /// A value beyond `limit` is kept apart: kNewNormal of them on end are the new normal (a change point).
        void add(double value, double limit);

    private:
        std::deque<double> usual_, unusual_;
    };

    void hold(const DetectorRule& rule, const std::string& key, bool holds, Alert alert, std::vector<Alert>& alerts);
    void straggler(const DetectorRule& rule, const StepMeasures& step, std::vector<Alert>& alerts);
    void stepTime(const DetectorRule& rule, const StepMeasures& step, std::vector<Alert>& alerts);
    void waitShare(const DetectorRule& rule, const StepMeasures& step, std::vector<Alert>& alerts);
    void transfer(const DetectorRule& rule, const StepMeasures& step, std::vector<Alert>& alerts);
    Status counters(TraceReader& reader, std::vector<Alert>& alerts);
    Status recording(TraceReader& reader, std::vector<Alert>& alerts);
    void loss(const DetectorRule& rule, const CounterSample& sample, std::vector<Alert>& alerts);

    std::vector<DetectorRule> rules_;
    StepReader steps_;
    std::map<std::string, State> states_;
    std::map<std::string, Baseline> baselines_;
    std::map<LaneId, std::int64_t> seenUntilNs_; ///< of counters
    double lossMean_ = 0, lossVariance_ = 0;
    std::int64_t losses_ = 0; ///< samples
    std::int64_t step_ = 0; ///< last one taken
    double typicalFlightNs_ = 0;
};

} // namespace rankscope::tracing::diagnosis
