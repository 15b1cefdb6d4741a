#pragma once

#include "tracing/collector/collector.h"
#include "tracing/record/recorder.h"
#include "tracing/store/trace_reader.h"

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>

namespace rankscope::tracing {

/// A folder for one test: a session directory and the run file beside it. Removed at the end.
class JobFolder {
public:
    JobFolder();
    ~JobFolder();
    JobFolder(const JobFolder&) = delete;
    JobFolder& operator=(const JobFolder&) = delete;

    std::string session() const { return root_ + "/session"; }
    std::string runFile() const { return root_ + "/run.rsdb"; }
    const std::string& root() const { return root_; }

private:
    std::string root_;
};

/// Runs `work` in a child process, which leaves without touching what belongs to the parent.
pid_t inChild(const std::function<void()>& work);
/// Waits for the child; true if it ended by itself with exit code 0.
bool joined(pid_t child);
void killed(pid_t child);

/// One rank of a small job: `steps` steps, each a step range holding two kernels, one message from rank 0 to rank 1, a
/// bubble on rank 1, an all-reduce over all ranks, and a loss. Step numbers start at `firstStep`.
struct SmallRank {
    std::string session;
    std::int32_t rank = 0;
    std::int32_t worldSize = 2;
    std::uint32_t firstStep = 0;
    std::uint32_t steps = 100;
    std::size_t ringBytes = 1u << 20;
    std::int64_t pauseUs = 0; ///< after each step
    std::int32_t attempt = 0;

    void record() const;
    /// The same, with more work before the recorder is closed.
    void record(const std::function<void(Recorder&)>& atTheEnd) const;
};

/// Collects what is there and ends when the writers are gone.
Result<CollectSummary> collectAll(const JobFolder& folder);

/// The first value of an SQL query's first row.
std::string valueOf(TraceReader& reader, const std::string& sql);
/// Empty if everything that the small job's ranks recorded is in the file exactly once.
std::string whatIsWrong(const std::string& runFile, int ranks, int steps);

} // namespace rankscope::tracing
