#include "app/session/run_session.h"

#include <QDateTime>
#include <QFileInfo>

namespace rankscope::app {
namespace {

constexpr int kPollMs = 100;
// The recorder folds its log into the file only while nobody reads; it tries again every few hundred milliseconds.
constexpr int kReopenMs = 1000;

std::int64_t nowUtcNs() { return QDateTime::currentMSecsSinceEpoch() * 1'000'000; }

} // namespace

RunSession::RunSession(QObject* parent)
    : QObject(parent)
{
    timer_.setInterval(kPollMs);
    connect(&timer_, &QTimer::timeout, this, &RunSession::poll);
}

RunSession::~RunSession() = default;

void RunSession::open(const QString& path) { begin(path, false); }

void RunSession::follow(const QString& path) { begin(path, true); }

void RunSession::begin(const QString& path, bool wait)
{
    close();
    path_ = path;
    waitsForFile_ = wait && !QFileInfo::exists(path);
    setThreads(path.toStdString());
    setState(State::Opening);
    timer_.start();
    poll();
}

void RunSession::close()
{
    timer_.stop();
    snapshotSlot_.forget();
    setThreads({});
    pollRuns_ = false;
    waitsForFile_ = false;
    path_.clear();
    snapshot_.reset();
    window_.reset();
    select({});
    setState(State::Closed);
}

RunSession::Progress RunSession::progress() const
{
    if (!snapshot_ || snapshot_->run.finished)
        return Progress::Finished;
    return nowUtcNs() - lastGrowthUtcNs_ > kStalledNs ? Progress::Stalled : Progress::Live;
}

std::int64_t RunSession::behindNs() const
{
    if (!snapshot_ || snapshot_->run.finished)
        return 0;
    return std::max<std::int64_t>(0, nowUtcNs() - snapshot_->run.originUtcNs - snapshot_->window.endNs);
}

void RunSession::select(const Selection& selection)
{
    if (selection == selection_)
        return;
    selection_ = selection;
    emit selectionChanged();
}

void RunSession::setWindow(std::optional<tracing::Window> window)
{
    if (window == window_)
        return;
    window_ = window;
    emit windowChanged();
}

void RunSession::poll()
{
    if (snapshot_)
        emit progressChanged();
    if (waitsForFile_ && !QFileInfo::exists(path_))
        return;
    if (pollRuns_)
        return;
    pollRuns_ = true;
    const std::int64_t known = snapshot_ ? snapshot_->dataVersion : -1;
    // An unchanged file answers with an empty path: nothing was read.
    detailThread_.post<RunSnapshot>(
        snapshotSlot_,
        [known](tracing::TraceReader& reader) -> tracing::Result<RunSnapshot> {
            const auto version = reader.dataVersion();
            if (version && *version == known)
                return RunSnapshot{};
            return readSnapshot(reader);
        },
        this, [this](tracing::Result<RunSnapshot> result) { takeSnapshot(std::move(result)); });
}

void RunSession::takeSnapshot(tracing::Result<RunSnapshot> result)
{
    pollRuns_ = false;
    if (!result) {
        // A file that a recorder has only just created has no tables yet.
        if (waitsForFile_ && state_ == State::Opening)
            return;
        if (snapshot_)
            return; // it was readable before: the next round tells whether it still is
        timer_.stop();
        setState(State::Failed, QString::fromStdString(result.error().message()));
        return;
    }
    if (result->path.empty())
        return;
    const bool first = !snapshot_;
    if (first) {
        // An unfinished file from yesterday is not live: its last sign of life is its head.
        lastGrowthUtcNs_ = result->run.originUtcNs + result->window.endNs;
        waitsForFile_ = false;
    } else if (result->window.endNs != snapshot_->window.endNs || result->run.finished) {
        lastGrowthUtcNs_ = nowUtcNs();
    }
    const bool finishedNow = !first && result->run.finished && !snapshot_->run.finished;
    snapshot_ = std::make_shared<const RunSnapshot>(std::move(*result));
    if (snapshot_->run.finished)
        timer_.stop();
    if (first)
        setState(State::Open);
    emit progressChanged();
    if (finishedNow)
        releaseFileForTheRecorder();
    else
        emit snapshotChanged();
}

void RunSession::releaseFileForTheRecorder()
{
    setThreads(path_.toStdString());
    emit fileReleased();
    // What asks for rows waits for this, so that nobody opens the file again meanwhile.
    QTimer::singleShot(kReopenMs, this, [this, path = path_] {
        if (path == path_)
            emit snapshotChanged();
    });
}

/// Whatever they have open they let go of.
void RunSession::setThreads(const std::string& path)
{
    for (ReaderThread* thread : { &detailThread_, &analysisThread_, &ledgerThread_ })
        thread->setPath(path);
}

void RunSession::setState(State state, const QString& error)
{
    error_ = error;
    state_ = state;
    emit stateChanged();
}

} // namespace rankscope::app
