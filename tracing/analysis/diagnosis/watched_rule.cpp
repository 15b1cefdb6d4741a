#include "tracing/analysis/diagnosis/watched_rule.h"

#include "tracing/analysis/diagnosis/evidence.h"

#include <cmath>
#include <utility>

namespace rankscope::tracing::diagnosis {

namespace {

/// Steps from which on there is a baseline; the first one (warm-up) is never in it.
constexpr std::size_t kLeastBaseline = 5;
/// So many unusual steps on end are a change for good.
constexpr std::size_t kNewNormal = 30;

} // namespace

std::optional<double> Baseline::usual() const
{
    if (usual_.size() < kLeastBaseline)
        return std::nullopt;
    return quantile({ usual_.begin(), usual_.end() }, 0.5);
}

void Baseline::add(double value, double limit)
{
    if (usual_.size() < kLeastBaseline || value <= limit) {
        usual_.push_back(value);
        unusual_.clear();
    } else {
        unusual_.push_back(value);
        if (unusual_.size() >= kNewNormal)
            usual_ = std::exchange(unusual_, {});
    }
    if (usual_.size() > kMost)
        usual_.pop_front();
}

double MovingMean::deviation() const { return std::sqrt(variance_); }

std::optional<double> MovingMean::score(double value) const
{
    if (count_ < kWarmUp || variance_ <= 0)
        return std::nullopt;
    return (value - mean_) / deviation();
}

void MovingMean::add(double value, double mostDeviations)
{
    constexpr double kKept = 0.97; // of what was, a value
    if (score(value).value_or(0) > mostDeviations)
        value = mean_ + mostDeviations * deviation();
    const double off = value - mean_;
    mean_ = count_ == 0 ? value : mean_ + (1 - kKept) * off;
    variance_ = count_ == 0 ? 0 : kKept * (variance_ + (1 - kKept) * off * off);
    ++count_;
}

void WatchedRule::hold(const std::string& of, bool holds, Alert alert, std::vector<Alert>& alerts)
{
    State& state = states_[of];
    state.holds = holds ? state.holds + 1 : 0;
    state.isTold = state.isTold && holds;
    if (state.holds < rule_.steps || state.isTold)
        return;
    state.isTold = true;
    alert.rule = rule_;
    alert.title = rule_.kind + ": " + alert.title;
    alerts.push_back(std::move(alert));
}

} // namespace rankscope::tracing::diagnosis
