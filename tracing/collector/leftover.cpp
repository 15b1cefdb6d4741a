#include "tracing/collector/collector.h"
#include "tracing/collector/ring_reader.h"
#include "tracing/collector/run_target.h"
#include "tracing/collector/session_watch.h"
#include "tracing/store/trace_reader.h"

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

} // namespace

Result<bool> drainLeftover(const std::string& runFile)
{
    std::string sessionDir;
    std::string runName;
    {
        auto reader = TraceReader::open(runFile);
        if (!reader)
            return reader.error();
        auto run = reader->run();
        auto provenance = reader->provenance();
        if (!run || !provenance)
            return run ? provenance.error() : run.error();
        if (run->finished)
            return false;
        sessionDir = (*provenance)["recording.session"];
        runName = run->name;
    }
    // Only a session that was recording into this very file: any other file would be replaced.
    if (sessionDir.empty() || !RunTarget::isNoted(sessionDir, runFile) || isAnyWriterAlive(sessionDir))
        return false;
    const std::atomic<bool> stop{ true };
    CollectOptions options;
    options.sessionDir = sessionDir;
    options.out = runFile;
    options.runName = runName;
    options.stop = &stop;
    auto summary = collect(options);
    if (!summary)
        return summary.error().in("drain what is left of " + runFile);
    return true;
}

} // namespace rankscope::tracing
