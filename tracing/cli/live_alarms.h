#pragma once

#include "tracing/analysis/diagnosis/live_watch.h"
#include "tracing/store/trace_reader.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// The detectors of a training under way, on the file as it grows. Costs nothing without detectors.
class LiveAlarms {
public:
    LiveAlarms(std::filesystem::path file, std::vector<diagnosis::DetectorRule> detectors);

    /// Looks at what is new, a few times a second at most; `sinceProgress`: without a line from the ranks.
    std::vector<diagnosis::Alert> look(const std::filesystem::path& sessionDir, double sinceProgress);
    /// Lets go of the file, so that it can be finished.
    void close() { reader_.reset(); }

private:
    std::optional<diagnosis::Alert> hang(const std::filesystem::path& sessionDir, double sinceProgress);

    std::filesystem::path file_;
    std::vector<diagnosis::DetectorRule> detectors_;
    diagnosis::LiveWatch watch_;
    std::optional<TraceReader> reader_;
    std::chrono::steady_clock::time_point lastLook_;
    bool hangIsTold_ = false;
};

/// "threshold 0.75, is 0.48; for the run's owner; notify"
std::string alertText(const diagnosis::Alert& alert);

} // namespace rankscope::tracing
