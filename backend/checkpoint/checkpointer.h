#pragma once

#include "backend/checkpoint/checkpoint_folder.h"
#include "backend/checkpoint/shard_file.h"
#include "backend/checkpoint/state.h"
#include "backend/comm/communicator.h"
#include "tracing/record/recorder.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace rankscope::backend {

/// What became of a checkpoint.
struct CheckpointEvent {
    enum class Kind {
        Published, ///< said by rank 0
        Failed, ///< could not be written; said by the rank that failed
        Skipped, ///< cannot be restored; said by the rank that found out
        Restored, ///< said by rank 0; step 0: from the beginning
    };
    Kind kind = Kind::Published;
    std::int64_t step = 0;
    std::string path; ///< of the manifest
    std::string message; ///< why
    std::uint64_t bytes = 0; ///< of all shards
    double blockedMs = 0; ///< this rank's training stood still
};

/// Saves and restores the training state of all ranks together. Every call is made by all ranks, in the same order.
class Checkpointer {
public:
    struct Settings {
        std::string dir;
        std::string run; ///< names the run, also over its attempts
        int attempt = 0;
        int keep = 2;
        bool async = false; ///< copies the state and writes it behind the next steps
        bool otherRuns = false; ///< may restore another run's
        std::string identity; ///< of the model and its seeds
        std::string layout;
    };
    struct State {
        std::vector<StateSlice> held; ///< all that this rank needs
        std::vector<StateSlice> written; ///< the part that it writes; over all ranks everything once
    };
    using Listener = std::function<void(const CheckpointEvent&)>;

    /// What is passed must outlive the checkpointer.
    Checkpointer(const Settings& settings, const State& state, Communicator& communicator, GroupId world,
        tracing::Recorder& recorder);
    ~Checkpointer(); ///< waits for the writing thread; what it wrote stays unpublished

    void setListener(Listener listener) { listener_ = std::move(listener); }
    void setHooks(ShardHooks hooks) { hooks_ = std::move(hooks); }

    /// Loads the newest complete checkpoint; damaged ones are named, put aside and skipped. Gives the updates done, 0
    /// without one. An error, the same on all ranks, where the state was overwritten in part and none is left to load.
    tracing::Result<std::int64_t> restore();

    /// Saves the state after `step` updates. With async returns once the state is copied.
    void save(std::int64_t step);

    /// For a vote that the step makes anyway: 1 where this rank's writing behind the steps is done. publishIfDone()
    /// takes the sum over all ranks and publishes what all have written.
    double doneVote() const;
    void publishIfDone(double votes);

    /// Waits for what is being written and publishes it.
    void finish();

private:
    struct Writing {
        std::int64_t step = 0;
        std::uint64_t beginTicks = 0;
        double blockedMs = 0;
        std::vector<std::vector<float>> copies;
        std::optional<tracing::Result<FileSum>> sum; ///< once written
    };
    enum class Found { Good, Damaged, Foreign, TornWhileRead };

    void write(Writing& writing, const std::vector<StateSlice>& slices);
    void publish();
    std::string fromRankZero(const std::string& text);
    bool allAgree(const tracing::Status& mine, CheckpointEvent event);
    Found tryRestore(const std::string& path, std::int64_t& step);
    void tell(const CheckpointEvent& event) const;

    Settings settings_;
    CheckpointFolder folder_;
    State state_;
    Communicator& communicator_;
    GroupId world_;
    tracing::Recorder& recorder_;
    Listener listener_;
    ShardHooks hooks_;
    std::optional<Writing> writing_;
    std::thread thread_; ///< with async, while writing_
    std::atomic<bool> isWritten_{ false };
    struct Names {
        tracing::LocalName save, restore;
    } names_;
};

} // namespace rankscope::backend
