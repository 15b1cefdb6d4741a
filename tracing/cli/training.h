#pragma once

#include "tracing/cli/launch/child.h"
#include "tracing/cli/launch/mpi_noise.h"
#include "tracing/cli/launch/run_lines.h"
#include "tracing/cli/supervision.h"
#include "tracing/cli/terminal.h"
#include "tracing/cli/watch/live_alarms.h"
#include "tracing/model/result.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// A training run under way: mpirun, the collector beside it, and the person who watches and may want to stop it.
class Training {
public:
    struct Settings {
        ProgramCall ranks; ///< mpirun
        ProgramCall collector;
        std::filesystem::path sessionDir;
        std::filesystem::path out;
        std::int64_t steps = 0;
        int restarts = 0; ///< of ranks that failed
        double hangSeconds = 0; ///< without a line from the ranks until they count as hung; 0: never
        bool rawLines = false; ///< the ranks' JSON lines instead of a status line
        /// What a restart runs instead, with why, where there is less to run on; none: the same as before.
        struct Instead {
            ProgramCall ranks;
            int dp = 0;
            std::string why; ///< "1 core is left: dp 1 instead of 2"
        };
        std::function<std::optional<Instead>()> shrink{};
        std::vector<diagnosis::DetectorRule> detectors{}; ///< of what may go wrong meanwhile
        std::function<void()> firstStep{}; ///< called once, when the ranks have made it
    };
    explicit Training(Settings settings);

    /// Blocks SIGINT, SIGTERM, SIGHUP and SIGCHLD for this process and takes them from a descriptor instead.
    Status prepare();
    /// Starts the collector and waits until its file is there, so that nothing runs that cannot be recorded.
    Status startCollector();
    /// Runs the ranks until their end, again where they failed and may go on, and gives the last exit code of mpirun.
    Result<int> runRanks();
    /// The ranks are gone: lets the collector finish the file. 0, or why the recording is not whole.
    int finishCollector();

    bool wasStopped() const { return stopsAsked_ > 0; }
    bool wasKilled() const { return stopsAsked_ > 1; }
    /// What Open MPI said, where that tells more than the ranks did.
    std::vector<std::string> whatMpiSaid() const;

private:
    /// One of the ranks' two streams, which mpirun brings together.
    struct Stream {
        int descriptor = -1; ///< -1 at its end
        LineSplitter lines;
    };
    Result<int> runAttempt();
    void endIfHung();
    void end(const AttemptEnd& why);
    void watch();
    void act(const diagnosis::Alert& alert);
    void tellFailure(int exitCode);
    void restart();
    void tell(const std::string& json, const std::string& text);
    void waitForEvents();
    void takeSignals();
    bool takeLines(); ///< what can be read now; false: nothing
    void show(const Stream& stream, const std::string& line);
    void askToStop();
    void tendCollector();

    Settings settings_;
    ProgressText progress_;
    StatusLine status_;
    LiveAlarms alarms_;
    MpiNoiseFilter noise_;
    Stream output_;
    Stream errors_;
    std::optional<Child> ranks_;
    std::optional<Child> collector_;
    int signals_ = -1; ///< signalfd
    int stopsAsked_ = 0;
    int collectorStarts_ = 0;
    int attempt_ = 0; ///< of the ranks, counted from 0
    std::chrono::steady_clock::time_point lastLine_; ///< the ranks showed progress
    std::optional<AttemptEnd> hang_; ///< of this attempt
    std::chrono::steady_clock::time_point toldToEnd_; ///< hung ranks were
    int recordingError_ = 0; ///< how the collector ended before its time
};

} // namespace rankscope::tracing
