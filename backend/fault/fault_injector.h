#pragma once

#include "backend/comm/link.h"
#include "backend/fault/fault.h"
#include "tracing/record/recorder.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace rankscope::backend {

/// Makes a rank's faults happen: called at the places where they strike. Each is told to the recorder, for a table that
/// no analysis reads.
class FaultInjector {
public:
    struct Place {
        int rank = 0;
        int stage = 0; ///< of this rank
        int attempt = 0;
        std::uint64_t seed = 1; ///< of what is drawn by chance
    };
    struct Actions {
        std::function<void()> poisonGradient; ///< makes one number of this rank's gradient none
        std::function<void(const Link& link)> shapeLink; ///< from now on; no limit and no delay: as it was
        std::function<void()> moveMessages; ///< while this rank waits for data: its network does not wait
    };

    /// Keeps those of `faults` that strike here, a hot expert everywhere: `stageOf` tells a rank's stage. The recorder
    /// must outlive it.
    FaultInjector(const std::vector<Fault>& faults, const Place& place, const std::function<int(int rank)>& stageOf,
        Actions actions, tracing::Recorder& recorder);

    bool isIdle() const { return faults_.empty(); }

    void beginStep(std::int64_t step);
    /// Within a kernel's span, whose arithmetic took `took` on a core.
    void insideKernel(std::chrono::nanoseconds took);
    void betweenKernels();
    void loadsBatch(); ///< within the loading
    /// The hot expert that all ranks send their tokens to now: the first one of fault.rank.
    const Fault* hotExpert() const;
    void inAllReduce(); ///< one is under way

    // While a shard is written, maybe by another thread.
    bool isDiskFull() const { return isDiskFull_; }
    void halfOfShardWritten();
    void shardWritten(const std::string& path);

private:
    using Clock = std::chrono::steady_clock;
    struct Struck {
        Fault fault;
        bool isOn = false; ///< lasting ones
        bool isDone = false; ///< those of a moment
        std::uint64_t beginTicks = 0;
        std::int64_t beginStep = 0;
        Clock::time_point nextPause;
    };

    void tell(Struck& struck, bool isOver);
    void turn(Struck& struck, bool on);
    void strikeAt(std::string_view moment);
    void addWork();
    void waitForData(std::chrono::nanoseconds time) const;

    int rank_;
    std::vector<Struck> faults_;
    Actions actions_;
    tracing::Recorder& recorder_;
    std::mt19937_64 chance_;
    std::int64_t step_ = 0;
    Clock::time_point stepBegan_;
    std::chrono::nanoseconds owed_{ 0 }; ///< extra arithmetic of an imbalanced stage
    tracing::LocalName extraWork_{};
    std::atomic<bool> isDiskFull_{ false };
};

} // namespace rankscope::backend
