#include "tracing/analysis/wording.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/output_path.h"
#include "tracing/cli/stop_signals.h"
#include "tracing/cli/terminal.h"
#include "tracing/collector/collector.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>

namespace rankscope::tracing {

namespace {

/// A waking collector should not push a rank off its core: it waits until one gives its core away, as ranks do that
/// wait themselves, or for its turn. Its share of the cores stays what it is, so the rings are emptied in time.
void letRanksFinishTheirTurn()
{
    const sched_param parameters{};
    static_cast<void>(sched_setscheduler(0, SCHED_BATCH, &parameters)); // if not allowed, it runs as others do
}

std::string progressText(const CollectProgress& progress)
{
    const double seconds = std::max(0.001, static_cast<double>(progress.elapsed.count()) / 1000);
    return fmt::format("{} records, {:.0f} a second, {} dropped, {} writing",
        countText(static_cast<std::int64_t>(progress.records)), static_cast<double>(progress.records) / seconds,
        countText(static_cast<std::int64_t>(progress.dropped)),
        plural(static_cast<std::int64_t>(progress.writers), "thread"));
}

/// A status line on a terminal, else a line every few seconds.
class ProgressReport {
public:
    void show(const CollectProgress& progress)
    {
        constexpr std::chrono::seconds kBetweenLines{ 5 };
        if (status_.isTerminal()) {
            status_.show(progressText(progress));
        } else if (progress.elapsed - lastLine_ >= kBetweenLines) {
            lastLine_ = progress.elapsed;
            sayNote(progressText(progress));
        }
    }
    void clear() { status_.clear(); }

private:
    StatusLine status_{ STDERR_FILENO };
    std::chrono::milliseconds lastLine_{ 0 };
};

} // namespace

int collectCommand(const CollectArguments& arguments)
{
    const std::atomic<bool>& stopAsked = stopOnSignals();
    // A closed terminal or pipe is no reason to lose a recording.
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    letRanksFinishTheirTurn();
    if (const Status good = checkOutput("--out", arguments.out); !good) {
        sayError(good.error().message());
        return kWrongUsage;
    }
    ProgressReport report;
    CollectOptions options;
    options.sessionDir = arguments.session;
    options.out = arguments.out;
    options.runName = arguments.name.empty() ? std::filesystem::path(arguments.out).stem().string() : arguments.name;
    options.stop = &stopAsked;
    options.quiet = std::chrono::milliseconds(static_cast<std::int64_t>(arguments.lingerSeconds * 1000));
    options.launcher = arguments.launcher;
    if (!arguments.quiet)
        options.progress = [&](const CollectProgress& progress) { report.show(progress); };
    const auto summary = collect(options);
    report.clear();
    if (!summary) {
        sayError(summary.error().in("collect").message());
        return kOwnFault;
    }
    if (!arguments.quiet) {
        sayNote(fmt::format("{}: {} records from {}, {} dropped", summary->file,
            countText(static_cast<std::int64_t>(summary->records)),
            plural(static_cast<std::int64_t>(summary->rings), "thread"),
            countText(static_cast<std::int64_t>(summary->dropped))));
    }
    return kGood;
}

} // namespace rankscope::tracing
