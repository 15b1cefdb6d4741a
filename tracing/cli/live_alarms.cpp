#include "tracing/cli/live_alarms.h"

#include "tracing/cli/supervision.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace rankscope::tracing {

using diagnosis::Alert;
using diagnosis::DetectorRule;

LiveAlarms::LiveAlarms(std::filesystem::path file, std::vector<DetectorRule> detectors)
    : file_(std::move(file))
    , detectors_(std::move(detectors))
    , watch_(detectors_)
{
}

std::optional<Alert> LiveAlarms::hang(const std::filesystem::path& sessionDir, double sinceProgress)
{
    const auto rule = std::ranges::find(detectors_, "hang", &DetectorRule::kind);
    if (rule == detectors_.end() || sinceProgress < rule->threshold) {
        hangIsTold_ = false;
        return std::nullopt;
    }
    if (std::exchange(hangIsTold_, true))
        return std::nullopt;
    const AttemptEnd end = endByHang(sessionDir, sinceProgress);
    Alert alert;
    alert.rule = *rule;
    alert.title = "hang: " + end.reason;
    if (const std::string absent = whoDidNotJoin(sessionDir); !absent.empty())
        alert.title += "; " + absent;
    alert.ranks.assign(end.ranks.begin(), end.ranks.end());
    alert.value = sinceProgress;
    return alert;
}

std::vector<Alert> LiveAlarms::look(const std::filesystem::path& sessionDir, double sinceProgress)
{
    constexpr auto kEvery = std::chrono::milliseconds(250);
    const auto now = std::chrono::steady_clock::now();
    if (detectors_.empty() || now - lastLook_ < kEvery)
        return {};
    lastLook_ = now;
    std::vector<Alert> alerts;
    if (auto alert = hang(sessionDir, sinceProgress))
        alerts.push_back(std::move(*alert));
    if (!reader_) {
        auto reader = TraceReader::open(file_.string());
        if (!reader)
            return alerts; // not there yet
        reader_ = std::move(*reader);
    }
    // A file that cannot be read now is read at the next look; what is in it is not lost.
    if (const auto seen = watch_.poll(*reader_))
        alerts.insert(alerts.end(), seen->begin(), seen->end());
    return alerts;
}

std::string alertText(const Alert& alert)
{
    std::string text = fmt::format("threshold {:g}, is {:.3g}", alert.rule.threshold, alert.value);
    if (alert.step > 0)
        text += fmt::format(", at step {}", alert.step);
    if (!alert.rule.owner.empty())
        text += fmt::format("; for {}", alert.rule.owner);
    return text + "; " + alert.rule.action;
}

} // namespace rankscope::tracing
