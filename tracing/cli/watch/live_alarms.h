#pragma once

#include "tracing/analysis/diagnosis/live_watch.h"
#include "tracing/store/trace_reader.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

namespace rankscope::tracing {

/// The detectors of a training under way, on the file as it grows. Costs nothing without detectors.
class LiveAlarms {
public:
    LiveAlarms(std::filesystem::path file, std::vector<diagnosis::DetectorRule> detectors);

    /// The ranks are started now, maybe again: what comes to light of the time before does not end them once more.
    void attemptBegins();
    /// The ranks gave a sign of life. New spans in the file are one, too.
    void progressed();
    /// Looks at what is new, a few times a second at most; `isLast` at once, and takes a run that is over for no hang.
    std::vector<diagnosis::Alert> look(const std::filesystem::path& sessionDir, bool isLast = false);
    /// What the alert is about had ended when the attempt began.
    bool isBeforeThisAttempt(const diagnosis::Alert& alert) const;
    /// Lets go of the file, so that it can be finished.
    void close() { reader_.reset(); }

private:
    using Clock = std::chrono::steady_clock;

    std::vector<diagnosis::Alert> readFile();
    void seeProgress();
    void hangs(const std::filesystem::path& sessionDir, std::vector<diagnosis::Alert>& alerts);

    std::filesystem::path file_;
    std::vector<diagnosis::DetectorRule> detectors_;
    diagnosis::LiveWatch watch_;
    std::optional<TraceReader> reader_;
    std::int64_t originUtcNs_ = 0; ///< of the file's clock
    std::int64_t attemptUtcNs_ = 0; ///< when it began
    std::int64_t latestEndNs_ = 0; ///< of a span in the file
    Clock::time_point lastProgress_ = Clock::now();
    Clock::time_point lastLook_;
    std::set<std::size_t> hangsTold_; ///< rules
};

} // namespace rankscope::tracing
