#include "tracing/cli/watch/live_alarms.h"

#include "tracing/cli/watch/hang.h"

#include <algorithm>
#include <utility>

namespace rankscope::tracing {

using diagnosis::Alert;
using diagnosis::DetectorRule;

namespace {

std::int64_t utcNow()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

} // namespace

LiveAlarms::LiveAlarms(std::filesystem::path file, std::vector<DetectorRule> detectors)
    : file_(std::move(file))
    , detectors_(std::move(detectors))
    , watch_(detectors_)
{
}

void LiveAlarms::attemptBegins()
{
    attemptUtcNs_ = utcNow();
    progressed();
}

void LiveAlarms::progressed()
{
    lastProgress_ = Clock::now();
    hangsTold_.clear();
}

bool LiveAlarms::isBeforeThisAttempt(const Alert& alert) const
{
    return originUtcNs_ + alert.window.endNs < attemptUtcNs_;
}

void LiveAlarms::seeProgress()
{
    const auto lanes = reader_->lanes();
    const auto ends = reader_->latestEnds();
    if (!lanes || !ends)
        return;
    std::int64_t latest = latestEndNs_;
    for (const Lane& lane : *lanes) {
        const auto end = ends->find(lane.id);
        if (lane.kind != LaneKind::Counter && end != ends->end())
            latest = std::max(latest, end->second);
    }
    if (std::exchange(latestEndNs_, latest) != latest)
        progressed();
}

/// METRICS 7: longer than the threshold and than five steps.
void LiveAlarms::hangs(const std::filesystem::path& sessionDir, std::vector<Alert>& alerts)
{
    constexpr double kSteps = 5, kNsPerSecond = 1e9;
    const double seconds = std::chrono::duration<double>(Clock::now() - lastProgress_).count();
    const double least = kSteps * watch_.usualStepNs().value_or(0) / kNsPerSecond;
    for (std::size_t i = 0; i < detectors_.size(); ++i) {
        const DetectorRule& rule = detectors_[i];
        if (rule.kind != "hang" || seconds < std::max(rule.threshold, least) || !hangsTold_.insert(i).second)
            continue;
        const AttemptEnd end = endByHang(sessionDir, seconds);
        const std::string absent = whoDidNotJoin(sessionDir);
        Alert alert;
        alert.rule = rule;
        alert.title = "hang: " + end.reason + (absent.empty() ? "" : "; " + absent);
        alert.ranks.assign(end.ranks.begin(), end.ranks.end());
        alert.value = seconds;
        alert.window = { latestEndNs_, std::max(latestEndNs_, utcNow() - originUtcNs_) };
        alerts.push_back(std::move(alert));
    }
}

/// A file that cannot be read now is read at the next look; what is in it is not lost.
std::vector<Alert> LiveAlarms::readFile()
{
    if (!reader_) {
        auto reader = TraceReader::open(file_.string());
        if (!reader)
            return {}; // not there yet
        reader_ = std::move(*reader);
    }
    if (const auto run = reader_->run())
        originUtcNs_ = run->originUtcNs;
    auto seen = watch_.poll(*reader_);
    seeProgress();
    return seen ? std::move(*seen) : std::vector<Alert>();
}

std::vector<Alert> LiveAlarms::look(const std::filesystem::path& sessionDir, bool isLast)
{
    constexpr auto kEvery = std::chrono::milliseconds(250);
    const auto now = Clock::now();
    if (detectors_.empty() || (!isLast && now - lastLook_ < kEvery))
        return {};
    lastLook_ = now;
    std::vector<Alert> alerts = readFile();
    for (Alert& alert : alerts) {
        if (alert.rule.action == "restart" && isBeforeThisAttempt(alert))
            alert.rule.action = "notify";
    }
    if (!isLast)
        hangs(sessionDir, alerts);
    return alerts;
}

} // namespace rankscope::tracing
