#include "tracing/collector/collector.h"

#include "tracing/collector/run_session.h"
#include "tracing/collector/run_target.h"
#include "tracing/collector/session_watch.h"
#include "tracing/record/session.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Between two passes. A pass costs as much as some thousand records, so few are cheap; but who watches the run live
/// must not see that it is a picture of the past.
constexpr milliseconds kLongestPause{ 220 };
constexpr milliseconds kShortestPause{ 5 };
/// Of a ring's room, to be taken by the records of one pause: the rest is for when they suddenly come faster.
constexpr double kFillAtOnce = 1.0 / 16;

/// The pause after which the fastest writer will have filled that much of its ring, should it go on as it did.
milliseconds pauseAfter(const RunSession::PassResult& pass, Clock::duration sinceLast)
{
    const double wanted = std::chrono::duration<double, std::milli>(sinceLast).count() * kFillAtOnce;
    const double pauseMs = wanted / std::max(pass.fill, 1e-6);
    const double longestMs = static_cast<double>(kLongestPause.count());
    return std::max(kShortestPause, milliseconds(static_cast<milliseconds::rep>(std::min(pauseMs, longestMs))));
}

/// Of Open MPI's ranks, which the launcher tells to put it into the session directory.
bool isSharedMemory(const fs::path& path) { return path.filename().string().starts_with("vader_segment."); }

std::string overPath(const std::string& sessionDir) { return sessionDir + "/over"; }

/// One collector a session. The lock goes with the process, also when it is killed.
class SessionLock {
public:
    static Result<SessionLock> take(const std::string& sessionDir)
    {
        const std::string path = collectorLockPath(sessionDir);
        const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0)
            return Error("open " + path + ": " + std::strerror(errno));
        if (flock(file, LOCK_EX | LOCK_NB) != 0) {
            close(file);
            return Error("session " + sessionDir + " has a collector already");
        }
        return SessionLock(file);
    }
    SessionLock(SessionLock&& other) noexcept
        : file_(std::exchange(other.file_, -1))
    {
    }
    SessionLock(const SessionLock&) = delete;
    SessionLock& operator=(const SessionLock&) = delete;
    ~SessionLock()
    {
        if (file_ >= 0)
            close(file_);
    }

private:
    explicit SessionLock(int file)
        : file_(file)
    {
    }
    int file_;
};

class Collecting {
public:
    Collecting(const CollectOptions& options, RunTarget target)
        : options_(options)
        , target_(std::move(target))
        , watch_(options.sessionDir)
    {
    }

    Result<CollectSummary> run();

private:
    Status start();
    Status step();
    void drop();
    void lose(const Error& error);
    Status addNewRings();
    bool isOver();
    void report();
    Result<CollectSummary> finish();
    Status finishBroken();
    std::vector<std::string> ringsAndFacts() const;
    std::vector<std::string> filesThat(const std::function<bool(const fs::path&)>& are) const;
    void removeSession(const std::vector<std::string>& files) const;

    const CollectOptions& options_;
    RunTarget target_;
    SessionWatch watch_;
    std::unique_ptr<RunSession> session_;
    std::vector<std::string> rings_; ///< all found
    std::vector<RingReader> dropping_; ///< once the file cannot grow
    std::optional<Error> broken_;
    CollectSummary summary_;
    bool wasBusy_ = false;
    milliseconds pause_ = kShortestPause;
    const Clock::time_point begin_ = Clock::now();
    Clock::time_point lastPass_ = begin_;
    Clock::time_point lastWriter_ = begin_;
    Clock::time_point nextReport_ = begin_ + milliseconds(1000);
};

Result<CollectSummary> Collecting::run()
{
    if (const Status started = start(); !started)
        return started.error();
    for (;;) {
        // Asked before the pass: what was written until then is taken by it.
        const bool isLast = isOver();
        if (isLast && session_)
            session_->checkWritersNow();
        if (broken_)
            drop();
        else if (const Status done = step(); !done)
            lose(done.error());
        report();
        if (isLast && !wasBusy_)
            return finish();
        if (!isOver())
            watch_.wait(pause_);
    }
}

Status Collecting::start()
{
    // Rings that lie there already may tell the clock of a session from before a reboot.
    std::optional<Calibration> fallback;
    rings_ = watch_.newRings();
    for (const std::string& path : rings_) {
        auto ring = RingReader::open(path);
        if (ring && !fallback && !isAlive(ring->process()))
            fallback = ring->calibration();
    }
    auto clock = RunClock::ofSession(options_.sessionDir, fallback);
    if (!clock)
        return clock.error();
    auto session
        = RunSession::open({ options_.sessionDir, target_.workPath(), options_.runName, target_.isResumed() }, *clock);
    if (!session)
        return session.error();
    session_ = std::move(*session);
    for (const std::string& path : rings_) {
        if (const Status added = session_->addRing(path); !added)
            return added;
    }
    return Done{};
}

Status Collecting::addNewRings()
{
    for (const std::string& path : watch_.newRings()) {
        rings_.push_back(path);
        lastWriter_ = Clock::now();
        if (const Status added = session_->addRing(path); !added)
            return added;
    }
    return Done{};
}

Status Collecting::step()
{
    if (const Status added = addNewRings(); !added)
        return added;
    auto result = session_->pass();
    if (!result)
        return result.error();
    const auto sinceLast = Clock::now() - std::exchange(lastPass_, Clock::now());
    wasBusy_ = result->isAnyNearlyFull || result->isMoreLeft;
    pause_ = wasBusy_ ? milliseconds(0) : pauseAfter(*result, sinceLast);
    if (session_->writersLeft() > 0)
        lastWriter_ = Clock::now();
    summary_.records = session_->taken();
    summary_.dropped = session_->dropped();
    return Done{};
}

void Collecting::lose(const Error& error)
{
    broken_ = error;
    std::fprintf(stderr, "rankscope: recording has stopped, the job goes on: %s\n", error.message().c_str());
    session_.reset();
    for (const std::string& path : rings_) {
        if (auto ring = RingReader::open(path)) {
            ring->seekToTail(); // what lies before is in the file
            dropping_.push_back(std::move(*ring));
        }
    }
}

/// Keeps the rings empty, so that their writers do not notice.
void Collecting::drop()
{
    for (const std::string& path : watch_.newRings()) {
        rings_.push_back(path);
        if (auto ring = RingReader::open(path))
            dropping_.push_back(std::move(*ring));
    }
    bool isAnyAlive = false;
    std::vector<Record> dropped;
    for (RingReader& ring : dropping_) {
        isAnyAlive = isAnyAlive || (!ring.isClosed() && isAlive(ring.process()));
        dropped.clear();
        ring.read(dropped, ring.capacity());
        ring.release();
        summary_.dropped += dropped.size();
    }
    wasBusy_ = false;
    pause_ = kLongestPause / 8;
    if (isAnyAlive)
        lastWriter_ = Clock::now();
}

bool Collecting::isOver()
{
    if (options_.stop && options_.stop->load(std::memory_order_relaxed))
        return true;
    std::error_code error;
    const auto quiet = Clock::now() - lastWriter_;
    const bool isAnyLeft = broken_ ? quiet < milliseconds(500) : session_->writersLeft() > 0;
    if (isAnyLeft)
        return false;
    const bool isAlone = options_.launcher > 0 && kill(options_.launcher, 0) != 0 && errno == ESRCH;
    const milliseconds patience = rings_.empty() ? options_.firstWriter : options_.quiet;
    return fs::exists(overPath(options_.sessionDir), error)
        || quiet > (isAlone ? std::min(patience, CollectOptions::kQuietAlone) : patience);
}

void Collecting::report()
{
    if (!options_.progress || Clock::now() < nextReport_)
        return;
    nextReport_ = Clock::now() + milliseconds(1000);
    options_.progress({ summary_.records, summary_.dropped, session_ ? session_->writersLeft() : dropping_.size(),
        std::chrono::duration_cast<milliseconds>(Clock::now() - begin_) });
}

Result<CollectSummary> Collecting::finish()
{
    summary_.rings = rings_.size();
    summary_.file = target_.outPath();
    if (broken_) {
        if (const Status finished = finishBroken(); !finished)
            std::fprintf(stderr, "rankscope: %s\n", finished.error().message().c_str());
        // The rings are empty, and kept they would fill the memory that /dev/shm is.
        if (!options_.keepSession)
            removeSession(ringsAndFacts());
        // Why has been said when it happened.
        return Error("the recording of " + summary_.file + " stopped before the job did; "
            + std::to_string(summary_.dropped) + " records are missing");
    }
    if (session_->writersLeft() > 0) {
        // Stopped from outside while ranks record: the run stays unfinished, the next collector goes on.
        session_.reset();
        return summary_;
    }
    if (const Status finished = session_->finish(); !finished)
        return finished.error();
    const std::vector<std::string> files = session_->sessionFiles();
    session_.reset();
    if (const Status delivered = target_.deliver(); !delivered)
        return delivered.error();
    if (!options_.keepSession)
        removeSession(files);
    return summary_;
}

/// Tries to leave word of the loss in the file: a few bytes may fit, and a person may have made room. If not, it is
/// said no second time that the disk is full.
Status Collecting::finishBroken()
{
    if (auto writer = TraceWriter::open(target_.workPath(), TraceWriter::Mode::Resume)) {
        const Loss loss{ "recording stopped", static_cast<std::int64_t>(summary_.dropped), broken_->message() };
        static_cast<void>(writer->addLoss(loss));
    }
    return target_.deliver();
}

std::vector<std::string> Collecting::ringsAndFacts() const
{
    std::vector<std::string> files = filesThat([](const fs::path& path) { return path.extension() == kFactsSuffix; });
    files.insert(files.end(), rings_.begin(), rings_.end());
    return files;
}

std::vector<std::string> Collecting::filesThat(const std::function<bool(const fs::path&)>& are) const
{
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(options_.sessionDir, error)) {
        if (are(entry.path()))
            files.push_back(entry.path().string());
    }
    return files;
}

void Collecting::removeSession(const std::vector<std::string>& files) const
{
    std::error_code error;
    for (const std::string& file : files)
        fs::remove(file, error);
    for (const char* file : { "clock", "target", "commands", "over", "collector.lock" })
        fs::remove(options_.sessionDir + "/" + file, error);
    // Shared memory of ranks that were killed: Open MPI removes it only when they end in peace.
    for (const std::string& file : filesThat([](const fs::path& path) { return isSharedMemory(path); }))
        fs::remove(file, error);
    const std::string spill = spillDir(options_.sessionDir);
    if (fs::is_symlink(spill, error)) {
        const fs::path target = fs::read_symlink(spill, error);
        fs::remove(target, error); // only if it is empty
        fs::remove(spill, error);
    }
    fs::remove(options_.sessionDir, error); // likewise
}

} // namespace

Result<CollectSummary> collect(const CollectOptions& options)
{
    auto lock = SessionLock::take(options.sessionDir);
    if (!lock)
        return lock.error();
    auto target = RunTarget::choose(options.sessionDir, options.out);
    if (!target)
        return target.error();
    return Collecting(options, std::move(*target)).run();
}

Status announceJobOver(const std::string& sessionDir)
{
    const int file = open(overPath(sessionDir).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return Error("write " + overPath(sessionDir) + ": " + std::strerror(errno));
    close(file);
    return Done{};
}

} // namespace rankscope::tracing
