#include "tracing/analysis/check/rules.h"
#include "tracing/analysis/wording.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/stop_signals.h"
#include "tracing/cli/terminal.h"
#include "tracing/cli/watch/alert_actions.h"
#include "tracing/cli/watch/live_alarms.h"
#include "tracing/collector/collector.h"

#include <fmt/format.h>
#include <poll.h>

#include <atomic>
#include <optional>

namespace rankscope::tracing {

namespace {

/// A run that somebody else has started, under rules of our own.
class Watching {
public:
    Watching(const WatchArguments& arguments, std::vector<diagnosis::DetectorRule> detectors)
        : stopAsked_(stopOnSignals())
        , arguments_(arguments)
        , alarms_(arguments.file, std::move(detectors))
    {
        alarms_.attemptBegins();
    }

    /// Until the run is over, or nobody writes to its file any more, or Ctrl-C.
    Result<int> run()
    {
        constexpr int kBetweenLooksMs = 250;
        for (;;) {
            auto isOver = look();
            if (!isOver)
                return isOver.error();
            if (*isOver || stopAsked_)
                return alerts_;
            ::poll(nullptr, 0, kBetweenLooksMs);
        }
    }

private:
    Result<bool> look()
    {
        auto session = sessionAtWork(arguments_.file);
        if (!session)
            return session.error();
        // What was written until now is looked at, also when that was the last of it.
        const bool isOver = !*session;
        for (const diagnosis::Alert& alert : alarms_.look(session->value_or(""), isOver))
            act(alert, *session);
        return isOver;
    }

    void act(diagnosis::Alert alert, const std::optional<std::string>& session)
    {
        ++alerts_;
        // The ranks are not to pay for what has long passed, and only who has started them can start them again.
        if (!session || alert.rule.action == "restart" || alarms_.isBeforeThisAttempt(alert))
            alert.rule.action = "notify";
        if (const Status acted = session ? actOn(alert, *session) : Status(Done{}); !acted)
            sayNote(acted.error().message());
        writeOut((arguments_.json ? alertJson(alert) : fmt::format("{} ({})", alert.title, alertText(alert))) + "\n");
    }

    const std::atomic<bool>& stopAsked_;
    const WatchArguments& arguments_;
    LiveAlarms alarms_;
    int alerts_ = 0;
};

} // namespace

int watchCommand(const WatchArguments& arguments)
{
    const auto rules = readRules(arguments.rules);
    if (!rules) {
        sayError(rules.error().message());
        return kWrongUsage;
    }
    if (rules->detectors.empty()) {
        sayError(fmt::format("rules {}: no [[detector]] in it: nothing to watch for", arguments.rules));
        return kWrongUsage;
    }
    const auto alerts = Watching(arguments, rules->detectors).run();
    if (!alerts) {
        sayError(alerts.error().in("watch " + arguments.file).message());
        return kUnreadableInput;
    }
    sayNote(fmt::format("{}: {}", arguments.file, *alerts == 0 ? "no alert" : plural(*alerts, "alert")));
    return *alerts == 0 ? kGood : kCheckSaidNo;
}

} // namespace rankscope::tracing
