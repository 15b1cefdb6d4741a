#pragma once

#include "backend/checkpoint/checkpointer.h"
#include "backend/fault/fault_injector.h"
#include "backend/parallel/optimizer.h"
#include "backend/parallel/pipeline_runner.h"
#include "backend/train/layout.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace rankscope::backend {

/// What a rank of the job shares with the others.
struct RankGroups {
    GroupId world{}, data{}, pipeline{}, clip{}, tensor{}, experts{}, expertData{};
};
RankGroups addGroups(const Mesh& mesh, Communicator& communicator);

struct StepReport {
    std::int64_t step = 0; ///< counts from 1
    double loss = 0; ///< nats a token, mean over the global batch
    double tokensPerSecond = 0;
    double stepMs = 0;
    double mfu = 0; ///< model FLOPs / time / peak of all ranks
    double gradientNorm = 0; ///< before clipping
};

struct ValidationReport {
    std::int64_t step = 0; ///< updates done before it
    double loss = 0; ///< nats a token
    std::int64_t tokens = 0;
};

/// How the run ended.
enum class RunEnd { Complete, Stopped, TimeIsUp, NotANumber };

/// One rank's training: the step loop over its stage of the model.
class Trainer {
public:
    struct Hooks {
        std::function<void(const StepReport&)> step;
        std::function<void(const ValidationReport&)> validation;
        std::function<bool()> shouldStop; ///< asked after each step; one rank's yes ends all ranks after the same step
        std::function<bool()> shouldSave{}; ///< likewise: one rank's yes makes a checkpoint
    };

    /// `peakFlops` is the sum over all ranks. Everything passed must outlive the trainer.
    Trainer(const Config& config, const Mesh& mesh, Communicator& communicator, const RankGroups& groups,
        const Dataset& dataset, tracing::Recorder& recorder, double peakFlops);

    /// Saves as config.checkpoint says, under the run's name, which its attempts share. Before run().
    void keepCheckpoints(const std::string& run, int attempt, Checkpointer::Listener listener);
    /// Goes on from the newest checkpoint. Gives the steps done; an error where the state cannot be trusted any more.
    tracing::Result<std::int64_t> restore();

    /// Lets config.faults of this attempt happen; slow links by `shapeLink`. After keepCheckpoints(), before run().
    void injectFaults(int attempt, std::function<void(const Link& link)> shapeLink);

    RunEnd run(const Hooks& hooks);

private:
    using Clock = std::chrono::steady_clock;
    struct StepOutcome {
        StepReport report; ///< the same on all ranks but for this rank's clock
        std::optional<RunEnd> end; ///< the ranks agreed to end here
        bool saves = false; ///< the ranks agreed on a checkpoint
    };

    StepOutcome step(std::int64_t number, const Hooks& hooks);
    void update(std::int64_t number, StepReport& report);
    /// Sums what only some ranks know over all ranks.
    void agree(double lossSum, const Hooks& hooks, StepOutcome& outcome);
    void validate(std::int64_t stepsDone, const Hooks& hooks);
    void saveIfDue(std::int64_t stepsDone, const StepOutcome& outcome);
    PipelineRunner::Options withFaults(PipelineRunner::Options options);
    bool isDueForValidation(std::int64_t stepsDone) const;
    std::optional<std::int64_t> queuedAtWorkNs() const;
    void count(const StepReport& report, double cpuCores);
    void countExperts();
    std::optional<HotExpert> hotExpert() const;
    /// What all tensor-parallel ranks know alike, as a summand over all ranks.
    double countedOnce(double value) const { return place_.tp == 0 ? value : 0; }
    Batch trainBatch(std::int64_t number, int microBatch);

    Config config_;
    MeshPlace place_;
    Communicator& communicator_;
    RankGroups groups_;
    const Dataset& dataset_;
    tracing::Recorder& recorder_;
    double peakFlops_;
    Clock::time_point began_;
    std::optional<FaultInjector> faults_;
    GptStage stage_;
    PipelineRunner runner_;
    Optimizer optimizer_;
    std::int64_t stepsDone_ = 0;
    std::optional<Checkpointer> checkpointer_;
    struct Names {
        std::vector<tracing::LocalName> experts; ///< of this rank
        tracing::LocalName dropped, balance;
        tracing::LocalName step, optimizer, validation, loss, heldOutLoss, tokens, memory, optimizerState, cpu,
            queue, gradientNorm;
    } names_;
};

} // namespace rankscope::backend
