#include "tracing/collector/collector.h"
#include "tracing/collector/ring_reader.h"
#include "tracing/collector/run_target.h"
#include "tracing/collector/session_watch.h"
#include "tracing/store/trace_reader.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <optional>

namespace rankscope::tracing {

namespace {

bool isAnyWriterAlive(const std::string& sessionDir)
{
    SessionWatch watch(sessionDir);
    for (const std::string& path : watch.newRings()) {
        const auto ring = RingReader::open(path);
        if (ring && !ring->isClosed() && isAlive(ring->process()))
            return true;
    }
    return false;
}

bool hasCollector(const std::string& sessionDir)
{
    const int file = open(collectorLockPath(sessionDir).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool isTaken = flock(file, LOCK_SH | LOCK_NB) != 0;
    close(file);
    return isTaken;
}

struct Recording {
    std::string sessionDir;
    std::string runName;
};

/// The session that is or was recording into this very file; none where the file is finished.
Result<std::optional<Recording>> recordingOf(const std::string& runFile)
{
    auto reader = TraceReader::open(runFile);
    if (!reader)
        return reader.error();
    auto run = reader->run();
    auto provenance = reader->provenance();
    if (!run || !provenance)
        return run ? provenance.error() : run.error();
    const std::string sessionDir = (*provenance)["recording.session"];
    if (run->finished || sessionDir.empty() || !RunTarget::isNoted(sessionDir, runFile))
        return std::optional<Recording>();
    return std::optional(Recording{ sessionDir, run->name });
}

} // namespace

Result<std::optional<std::string>> sessionAtWork(const std::string& runFile)
{
    const auto recording = recordingOf(runFile);
    if (!recording)
        return recording.error();
    if (!*recording || (!hasCollector((*recording)->sessionDir) && !isAnyWriterAlive((*recording)->sessionDir)))
        return std::optional<std::string>();
    return std::optional((*recording)->sessionDir);
}

Result<bool> isBeingRecorded(const std::string& runFile)
{
    const auto session = sessionAtWork(runFile);
    return session ? Result<bool>(session->has_value()) : Result<bool>(session.error());
}

Result<bool> drainLeftover(const std::string& runFile)
{
    const auto recording = recordingOf(runFile);
    if (!recording)
        return recording.error();
    if (!*recording || isAnyWriterAlive((*recording)->sessionDir))
        return false;
    const std::atomic<bool> stop{ true };
    CollectOptions options;
    options.sessionDir = (*recording)->sessionDir;
    options.out = runFile;
    options.runName = (*recording)->runName;
    options.stop = &stop;
    auto summary = collect(options);
    if (!summary)
        return summary.error().in("drain what is left of " + runFile);
    return true;
}

} // namespace rankscope::tracing
