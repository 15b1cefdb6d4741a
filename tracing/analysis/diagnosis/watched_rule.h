#pragma once

#include "tracing/model/rows.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

struct Alert {
    DetectorRule rule;
    std::string title; ///< "straggler: rank 1 computes 2.1 times as long as its peers"
    std::vector<std::int32_t> ranks; ///< to blame, where one can be named
    std::int64_t step = 0; ///< at which it was seen; 0: at no step
    double value = 0; ///< held against the threshold
    Window window; ///< where to look
};

/// The median of what was usual; none while too little is known.
class Baseline {
public:
    static constexpr std::size_t kMost = 50;

    std::optional<double> usual() const;
    /// A value beyond `limit` is kept apart: kNewNormal of them on end are the new normal (a change point).
    void add(double value, double limit);

private:
    std::deque<double> usual_, unusual_;
};

/// Exponentially weighted mean and deviation (ZClip): a value far beyond counts as one at the limit, so that a spike
/// neither hides the next one nor becomes usual at once.
class MovingMean {
public:
    static constexpr std::int64_t kWarmUp = 20; ///< values until it tells anything

    double mean() const { return mean_; }
    /// By how many deviations the value lies above the mean; none while too little is known.
    std::optional<double> score(double value) const;
    void add(double value, double mostDeviations);

private:
    double deviation() const;

    double mean_ = 0, variance_ = 0;
    std::int64_t count_ = 0;
};

/// One rule, with what it remembers of what it watches: a rank, a dimension, a route. An alert is given once; when what
/// it is about has ended, it may come again.
class WatchedRule {
public:
    explicit WatchedRule(DetectorRule rule)
        : rule_(std::move(rule))
    {
    }

    const DetectorRule& rule() const { return rule_; }
    bool is(std::string_view kind) const { return rule_.kind == kind; }
    Baseline& baseline(const std::string& of) { return baselines_[of]; }
    MovingMean& moving() { return moving_; }

    /// Gives the alert where this is the time for it; `of` tells apart what the rule watches.
    void hold(const std::string& of, bool holds, Alert alert, std::vector<Alert>& alerts);

private:
    struct State {
        int holds = 0; ///< steps on end
        bool isTold = false;
    };

    DetectorRule rule_;
    std::map<std::string, State> states_;
    std::map<std::string, Baseline> baselines_;
    MovingMean moving_;
};

} // namespace rankscope::tracing::diagnosis
