#include "tracing/cli/training.h"

#include "tracing/cli/watch/alert_actions.h"
#include "tracing/collector/collector.h"
#include "tracing/record/clock.h"
#include "tracing/record/command_file.h"
#include "tracing/record/facts_file.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr int kMostCollectorStarts = 20;

bool wasKilledBySignal(int exitCode) { return exitCode > 128; }

bool hasInput(int descriptor)
{
    pollfd entry{ descriptor, POLLIN, 0 };
    return ::poll(&entry, 1, 0) > 0;
}

} // namespace

Training::Training(Settings settings)
    : settings_(std::move(settings))
    , progress_(settings_.steps)
    , status_(STDOUT_FILENO)
    , alarms_(settings_.out, settings_.detectors)
{
}

Status Training::prepare()
{
    sigset_t watched;
    sigemptyset(&watched);
    for (const int number : { SIGINT, SIGTERM, SIGHUP, SIGCHLD })
        sigaddset(&watched, number);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    std::signal(SIGPIPE, SIG_IGN); // who read our lines may go; the run then stops in order
    signals_ = signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signals_ < 0)
        return Error(fmt::format("signalfd: {}", std::strerror(errno)));
    return Done{};
}

Status Training::startCollector()
{
    ++collectorStarts_;
    auto started = Child::start(settings_.collector, Child::Output::Inherit, Child::Life::OnItsOwn);
    if (!started)
        return started.error();
    collector_ = std::move(*started);
    if (collectorStarts_ > 1)
        return Done{};
    // On a network file system the file comes at the end only: do not wait for it forever.
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    std::error_code ignored;
    while (!std::filesystem::exists(settings_.out, ignored) && std::chrono::steady_clock::now() < patience) {
        if (const auto code = collector_->poll())
            return Error(fmt::format("the collector ended with code {} before the run began", *code));
        poll(nullptr, 0, 10);
    }
    return Done{};
}

Result<int> Training::runRanks()
{
    for (;; ++attempt_) {
        auto exitCode = runAttempt();
        if (!exitCode || *exitCode == 0)
            return exitCode;
        const bool isAskedFor = stopsAsked_ > 0;
        if (mayGoOn(*exitCode) && !isAskedFor)
            tellFailure(*exitCode);
        if (!mayGoOn(*exitCode) || isAskedFor || attempt_ >= settings_.restarts)
            return exitCode;
        restart();
    }
}

void Training::restart()
{
    const int next = attempt_ + 1;
    const std::string text = fmt::format("starting the ranks again ({} of {})", next, settings_.restarts);
    auto instead = settings_.shrink ? settings_.shrink() : std::nullopt;
    if (!instead) {
        tell(fmt::format(R"({{"schema":1,"event":"restart","attempt":{}}})", next), text);
        return;
    }
    settings_.ranks = std::move(instead->ranks);
    const ProvenanceFact fact{ fmt::format("attempt.{}.layout", next), instead->why };
    if (const Status recorded = appendJobFact(settings_.sessionDir.string(), fact); !recorded)
        sayNote(recorded.error().message());
    tell(fmt::format(
             R"({{"schema":1,"event":"restart","attempt":{},"dp":{},"reason":"{}"}})", next, instead->dp, instead->why),
        text + ": " + instead->why);
}

/// For scripts as a line like the ranks', for people as a note.
void Training::tell(const std::string& json, const std::string& text)
{
    status_.clear();
    if (settings_.rawLines)
        writeOut(json + "\n");
    else
        sayNote(text);
}

void Training::tellFailure(int exitCode)
{
    const AttemptEnd end = hang_ ? *hang_ : endOfRanks(exitCode, noise_.banners());
    if (!hang_) { // a hang has been recorded when it was seen
        const FailureFact fact{ attempt_, readTicks(chooseClock()), end.reason,
            std::vector<std::int32_t>(end.ranks.begin(), end.ranks.end()) };
        if (const Status recorded = appendJobFact(settings_.sessionDir.string(), fact); !recorded)
            sayNote(recorded.error().message());
    }
    tell(fmt::format(R"({{"schema":1,"event":"failure","attempt":{},"reason":"{}","ranks":[{}]}})", attempt_,
             end.reason, fmt::join(end.ranks, ",")),
        fmt::format("attempt {} failed: {}", attempt_ + 1, end.reason));
}

void Training::endIfHung()
{
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> limit(settings_.hangSeconds);
    if (hang_) {
        // mpirun sees its ranks die and ends, unless it hangs itself.
        if (now - toldToEnd_ > std::chrono::seconds(15))
            ranks_->signalGroup(SIGKILL);
        return;
    }
    if (settings_.hangSeconds == 0 || now - lastLine_ < limit)
        return;
    end(endByHang(settings_.sessionDir, settings_.hangSeconds));
}

/// Ends the ranks, which would not end by themselves; they may be started again.
void Training::end(const AttemptEnd& why)
{
    hang_ = why;
    toldToEnd_ = std::chrono::steady_clock::now();
    const FailureFact fact{ attempt_, readTicks(chooseClock()), hang_->reason,
        std::vector<std::int32_t>(hang_->ranks.begin(), hang_->ranks.end()) };
    if (const Status recorded = appendJobFact(settings_.sessionDir.string(), fact); !recorded)
        sayNote(recorded.error().message());
    killRanks(settings_.sessionDir);
    ranks_->signal(SIGTERM);
}

void Training::watch()
{
    for (const diagnosis::Alert& alert : alarms_.look(settings_.sessionDir))
        act(alert);
}

void Training::act(const diagnosis::Alert& alert)
{
    if (const Status acted = actOn(alert, settings_.sessionDir); !acted)
        sayNote(acted.error().message());
    if (isForPeople(alert))
        tell(alertJson(alert), fmt::format("alert: {} ({})", alert.title, alertText(alert)));
    if (alert.rule.action == "restart" && !hang_)
        end({ alert.title, { alert.ranks.begin(), alert.ranks.end() } });
}

Result<int> Training::runAttempt()
{
    ProgramCall call = settings_.ranks;
    for (auto& [name, value] : call.environment) {
        if (name == "RANKSCOPE_ATTEMPT")
            value = fmt::format("{}", attempt_);
    }
    noise_ = {};
    hang_.reset();
    lastLine_ = std::chrono::steady_clock::now();
    alarms_.attemptBegins();
    auto started = Child::start(call, Child::Output::Pipes, Child::Life::WithParent);
    if (!started)
        return started.error();
    ranks_ = std::move(*started);
    output_.descriptor = ranks_->outputPipe();
    errors_.descriptor = ranks_->errorPipe();
    std::optional<int> exitCode;
    while (!exitCode) {
        waitForEvents();
        takeSignals();
        takeLines();
        tendCollector();
        exitCode = ranks_->poll();
        if (!exitCode) {
            endIfHung();
            watch();
        }
    }
    // What they wrote last may still be in the pipes.
    while (takeLines()) { }
    for (Stream* stream : { &output_, &errors_ }) {
        if (const auto rest = stream->lines.rest())
            show(*stream, *rest);
    }
    status_.clear();
    return *exitCode;
}

int Training::finishCollector()
{
    alarms_.close();
    if (const Status told = announceJobOver(settings_.sessionDir.string()); !told && collector_)
        collector_->signal(SIGTERM);
    while (collector_) {
        if (const auto code = collector_->poll()) {
            if (!wasKilledBySignal(*code) || collectorStarts_ >= kMostCollectorStarts || !startCollector())
                return *code;
        }
        pollfd entry{ signals_, POLLIN, 0 };
        poll(&entry, 1, 200);
        takeSignals();
    }
    return recordingError_;
}

std::vector<std::string> Training::whatMpiSaid() const
{
    std::vector<std::string> deaths;
    for (const std::string& line : noise_.banners()) {
        if (line.find("noticed that process rank") != std::string::npos)
            deaths.push_back(line);
    }
    // A rank's own words, and which one died, tell more than the rest of the banners.
    return noise_.heardARank() || !deaths.empty() ? deaths : noise_.banners();
}

void Training::waitForEvents()
{
    // A stream at its end would be ready for ever; poll passes over -1.
    std::array<pollfd, 3> entries{ { { signals_, POLLIN, 0 }, { output_.descriptor, POLLIN, 0 },
        { errors_.descriptor, POLLIN, 0 } } };
    poll(entries.data(), entries.size(), 500);
}

void Training::takeSignals()
{
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo != SIGCHLD)
            askToStop();
    }
}

bool Training::takeLines()
{
    bool any = false;
    for (Stream* stream : { &output_, &errors_ }) {
        if (stream->descriptor < 0 || !hasInput(stream->descriptor))
            continue;
        std::array<char, 65536> buffer;
        const ssize_t count = read(stream->descriptor, buffer.data(), buffer.size());
        if (count <= 0) {
            stream->descriptor = count < 0 && errno == EINTR ? stream->descriptor : -1;
            continue;
        }
        any = true;
        for (const std::string& line : stream->lines.take({ buffer.data(), static_cast<std::size_t>(count) }))
            show(*stream, line);
    }
    return any;
}

void Training::show(const Stream& stream, const std::string& line)
{
    if (&stream == &output_) {
        lastLine_ = std::chrono::steady_clock::now();
        alarms_.progressed();
        if (settings_.firstStep && line.find("\"step_ms\"") != std::string::npos)
            std::exchange(settings_.firstStep, {})();
    }
    if (&stream == &errors_) {
        if (const auto own = noise_.take(line)) {
            status_.clear();
            sayNote(*own);
        }
    } else if (settings_.rawLines) {
        if (!writeOut(line + "\n") && stopsAsked_ == 0)
            askToStop(); // nobody reads any more
    } else if (const auto shown = progress_.take(line)) {
        if (!shown->stays) {
            status_.show(shown->text);
            return;
        }
        status_.clear();
        writeOut(shown->text + "\n");
    }
}

void Training::askToStop()
{
    ++stopsAsked_;
    status_.clear();
    if (stopsAsked_ == 1) {
        const Status told = appendCommand(settings_.sessionDir.string(), "stop");
        sayNote(told ? "stopping after this step; Ctrl-C again ends the ranks at once" : told.error().message());
        if (told || !ranks_)
            return;
    }
    if (ranks_ && !ranks_->poll()) {
        sayNote("ending the ranks; the file keeps what was recorded");
        stopsAsked_ <= 2 ? ranks_->signal(SIGTERM) : ranks_->signalGroup(SIGKILL);
    }
}

void Training::tendCollector()
{
    if (!collector_)
        return;
    const auto code = collector_->poll();
    if (!code)
        return;
    // Killed, or gone because no rank had shown up yet: it goes on where it was.
    const bool canGoOn = *code == 0 || wasKilledBySignal(*code);
    if (canGoOn && collectorStarts_ < kMostCollectorStarts && startCollector())
        return;
    recordingError_ = std::max(1, *code);
    collector_.reset();
    status_.clear();
    sayNote("the collector ended: what follows is not recorded; the training goes on");
}

} // namespace rankscope::tracing
