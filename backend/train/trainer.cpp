#include "backend/train/trainer.h"

#include "backend/comm/run_queue.h"
#include "backend/train/process_usage.h"
#include "backend/train/training_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace rankscope::backend {

using tracing::OpenSpan;
using tracing::RangeKind;

namespace {

GptStage::Options stageOptions(const Config& config, const MeshPlace& place)
{
    const Schedule schedule = scheduleOf(config);
    return { .config = config.model,
        .chunks = chunksOf(config, schedule, place.pp),
        .part = config.tensorPart(place.tp),
        .experts = { .parts = config.parallel.ep, .index = place.ep },
        .sequences = config.batch.microBatch,
        .seed = static_cast<std::uint64_t>(config.train.seed),
        .recompute = recomputeOf(config),
        .numbers = numbersOf(config),
        .defersWeights = splitsBackward(schedule) };
}

PipelineRunner::Options runnerOptions(const Config& config, const Mesh& mesh, int rank, const RankGroups& groups)
{
    PipelineRunner::Options options{ .schedule = scheduleOf(config),
        .stage = mesh.placeOf(rank).pp,
        .stageRanks = mesh.pipelineGroup(rank).members,
        .pipeline = groups.pipeline,
        .clip = groups.clip,
        .data = std::nullopt,
        .experts = std::nullopt,
        .expertData = std::nullopt,
        .tensor = std::nullopt,
        .bucketFloats = static_cast<std::size_t>(config.parallel.bucketKb) * 1024 / sizeof(float),
        .exchanges = config.meshSizes().worldSize() > 1,
        .shardsOptimizer = config.parallel.zero > 0,
        .isNaive = config.parallel.comm == "naive" };
    if (options.shardsOptimizer)
        options.clip = groups.world; // each rank has its own part of the norm
    if (config.parallel.dp > 1)
        options.data = groups.data;
    if (config.parallel.ep > 1)
        options.experts = groups.experts;
    if (config.parallel.dp > config.parallel.ep)
        options.expertData = groups.expertData;
    if (config.parallel.tp > 1)
        options.tensor = groups.tensor;
    return options;
}

/// What this rank updates of its stage's values.
std::vector<Segment> shardsOf(
    const Config& config, const PipelineRunner::Options& options, GptStage& stage, int replica)
{
    const int dp = config.parallel.dp, ep = config.parallel.ep;
    if (config.parallel.dp == 1 || !options.shardsOptimizer)
        return { { 0, stage.values().size() } };
    std::vector<Segment> shards;
    for (const SharedRange& range : sharedRanges(stage, options.bucketFloats)) {
        const bool isExperts = range.begin > 0;
        for (const Segment& part :
            ownParts(range.buckets, isExperts ? replica / ep : replica, isExperts ? dp / ep : dp))
            shards.push_back({ range.begin + part.begin, part.count });
    }
    return shards;
}

Optimizer::Settings optimizerSettings(const Config& config)
{
    return { .learningRate = { .peak = config.optimizer.lr,
                 .final = config.optimizer.finalLr,
                 .warmup = config.optimizer.warmup,
                 .steps = config.train.steps },
        .beta1 = config.optimizer.betas[0],
        .beta2 = config.optimizer.betas[1],
        .weightDecay = config.optimizer.weightDecay,
        .clip = config.optimizer.clip };
}

/// "expert 3 [tokens]", for those of a rank.
std::vector<tracing::LocalName> expertNames(const Config& config, const MeshPlace& place, tracing::Recorder& recorder)
{
    std::vector<tracing::LocalName> names;
    const int local = config.model.experts / config.parallel.ep;
    for (int expert = place.ep * local; expert < (place.ep + 1) * local; ++expert)
        names.push_back(recorder.name(fmt::format("expert {} [tokens]", expert)));
    return names;
}

/// What has to be the same for a state to go on: the model, and the seed that says which data comes next.
std::string identityOf(const Config& config)
{
    const GptConfig& model = config.model;
    std::string identity = fmt::format("layers {}, width {}, heads {}, vocabulary {}, sequence {}, seed {}",
        model.layers, model.width, model.heads, model.vocab, model.sequence, config.train.seed);
    if (model.experts > 0)
        identity += fmt::format(", experts {}, top {}", model.experts, model.topK);
    return identity;
}

Checkpointer::Settings checkpointSettings(const Config& config, const std::string& run, int attempt)
{
    const MeshSizes sizes = config.meshSizes();
    return { .dir = config.checkpoint.dir,
        .run = run,
        .attempt = attempt,
        .keep = config.checkpoint.keep,
        .async = config.checkpoint.async,
        .otherRuns = config.checkpoint.resume,
        .identity = identityOf(config),
        .layout = fmt::format("dp {} x tp {} x pp {}, ep {}", sizes.dp, sizes.tp, sizes.pp, sizes.ep) };
}

double secondsSince(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

RankGroups addGroups(const Mesh& mesh, Communicator& communicator)
{
    const int rank = communicator.rank();
    return { .world = communicator.addGroup(mesh.worldGroup(rank)),
        .data = communicator.addGroup(mesh.dataGroup(rank)),
        .pipeline = communicator.addGroup(mesh.pipelineGroup(rank)),
        .clip = communicator.addGroup(mesh.clipGroup(rank)),
        .tensor = communicator.addGroup(mesh.tensorGroup(rank)),
        .experts = communicator.addGroup(mesh.expertGroup(rank)),
        .expertData = communicator.addGroup(mesh.expertDataGroup(rank)) };
}

Trainer::Trainer(const Config& config, const Mesh& mesh, Communicator& communicator, const RankGroups& groups,
    const Dataset& dataset, tracing::Recorder& recorder, double peakFlops)
    : config_(config)
    , place_(mesh.placeOf(communicator.rank()))
    , communicator_(communicator)
    , groups_(groups)
    , dataset_(dataset)
    , recorder_(recorder)
    , peakFlops_(peakFlops)
    , stage_(stageOptions(config, place_), recorder)
    , runner_(withFaults(runnerOptions(config, mesh, communicator.rank(), groups)), stage_, communicator, recorder)
    , optimizer_(optimizerSettings(config), stage_,
          shardsOf(config, runnerOptions(config, mesh, communicator.rank(), groups), stage_, place_.dp), recorder)
    , names_{ .experts = expertNames(config, place_, recorder),
        .dropped = recorder.name("dropped tokens [tokens]"),
        .balance = recorder.name("balance loss"),
        .step = recorder.name("step"),
        .optimizer = recorder.name("optimizer"),
        .validation = recorder.name("validation"),
        .loss = recorder.name("loss [nats]"),
        .heldOutLoss = recorder.name("held-out loss [nats]"),
        .tokens = recorder.name("throughput [tokens/s]"),
        .memory = recorder.name("memory [bytes]"),
        .optimizerState = recorder.name("optimizer state [bytes]"),
        .cpu = recorder.name("cpu [cores]"),
        .queue = recorder.name("ready to work without a core [s]"),
        .gradientNorm = recorder.name("gradient norm") }
{
}

void Trainer::keepCheckpoints(const std::string& run, int attempt, Checkpointer::Listener listener)
{
    checkpointer_.emplace(checkpointSettings(config_, run, attempt),
        trainingState(stage_.parameters(), optimizer_, place_, config_.meshSizes()), communicator_, groups_.world,
        recorder_);
    checkpointer_->setListener(std::move(listener));
}

tracing::Result<std::int64_t> Trainer::restore()
{
    auto restored = checkpointer_->restore();
    if (restored)
        stepsDone_ = *restored;
    stage_.weightsChanged();
    return restored;
}

PipelineRunner::Options Trainer::withFaults(PipelineRunner::Options options)
{
    if (config_.faults.empty())
        return options;
    options.also.betweenKernels = [this] {
        if (faults_)
            faults_->betweenKernels();
    };
    options.also.hotExpert = [this] { return hotExpert(); };
    options.also.insideKernel = [this](std::chrono::nanoseconds took) {
        if (faults_)
            faults_->insideKernel(took);
    };
    return options;
}

std::optional<HotExpert> Trainer::hotExpert() const
{
    const Fault* hot = faults_ ? faults_->hotExpert() : nullptr;
    if (!hot)
        return std::nullopt;
    const MeshPlace place = Mesh::create(config_.meshSizes())->placeOf(hot->rank);
    // Of the rows that are not sent there it has its even share still, 1 / experts: together `factor` times that.
    return HotExpert{ .expert = place.ep * (config_.model.experts / config_.parallel.ep),
        .share = (hot->factor - 1) / (config_.model.experts - 1) };
}

void Trainer::injectFaults(int attempt, std::function<void(const Link& link)> shapeLink)
{
    if (config_.faults.empty())
        return;
    const Mesh mesh = *Mesh::create(config_.meshSizes());
    faults_.emplace(
        config_.faults,
        FaultInjector::Place{
            communicator_.rank(), place_.pp, attempt, static_cast<std::uint64_t>(config_.train.seed) },
        [&mesh](int rank) { return mesh.placeOf(rank).pp; },
        FaultInjector::Actions{ [this] { stage_.gradients()[0] = std::numeric_limits<float>::quiet_NaN(); },
            std::move(shapeLink), [this] { communicator_.progress(); } },
        recorder_);
    if (!checkpointer_ || faults_->isIdle())
        return;
    checkpointer_->setHooks(
        { .place = [this](const std::string& path) { return faults_->isDiskFull() ? "/dev/full" : path; },
            .halfWay = [this] { faults_->halfOfShardWritten(); },
            .written = [this](const std::string& path) { faults_->shardWritten(path); } });
}

RunEnd Trainer::run(const Hooks& hooks)
{
    began_ = Clock::now();
    if (config_.train.validateEvery > 0 && stepsDone_ == 0)
        validate(0, hooks);
    std::optional<RunEnd> end;
    while (!end && stepsDone_ < config_.train.steps) {
        const StepOutcome outcome = step(++stepsDone_, hooks);
        if (hooks.step)
            hooks.step(outcome.report);
        end = outcome.end;
        if (end == RunEnd::NotANumber)
            break; // neither worth a look nor worth keeping
        if (isDueForValidation(stepsDone_) || (end && config_.train.validateEvery > 0))
            validate(stepsDone_, hooks);
        saveIfDue(stepsDone_, outcome);
    }
    runner_.finishWeights();
    if (checkpointer_)
        checkpointer_->finish();
    return end.value_or(RunEnd::Complete);
}

void Trainer::saveIfDue(std::int64_t stepsDone, const StepOutcome& outcome)
{
    const int every = config_.checkpoint.every;
    if (!checkpointer_)
        return;
    const bool isLast = outcome.end || stepsDone == config_.train.steps;
    if (outcome.saves || (every > 0 && (stepsDone % every == 0 || isLast))) {
        runner_.finishWeights();
        checkpointer_->save(stepsDone);
    }
}

bool Trainer::isDueForValidation(std::int64_t stepsDone) const
{
    const int every = config_.train.validateEvery;
    return every > 0 && (stepsDone % every == 0 || stepsDone == config_.train.steps);
}

Batch Trainer::trainBatch(std::int64_t number, int microBatch)
{
    if (faults_)
        faults_->loadsBatch();
    // Numbered so that replicas take turns: micro-batch i of all replicas lies together in the global batch.
    const int first = (microBatch * config_.parallel.dp + place_.dp) * config_.batch.microBatch;
    return dataset_.train(number, first, config_.batch.microBatch);
}

Trainer::StepOutcome Trainer::step(std::int64_t number, const Hooks& hooks)
{
    const Clock::time_point begin = Clock::now();
    const double cpuBefore = processCpuSeconds();
    const auto queueBefore = queuedAtWorkNs();
    StepOutcome outcome{ .report = { .step = number }, .end = std::nullopt };
    {
        const OpenSpan span = recorder_.range(
            { .name = names_.step, .kind = RangeKind::Step, .step = static_cast<std::uint32_t>(number) });
        if (faults_)
            faults_->beginStep(number);
        const auto lossScale = static_cast<float>(1.0 / static_cast<double>(config_.tokensPerStep()));
        const double loss
            = runner_.trainStep([&](int microBatch) { return trainBatch(number, microBatch); }, lossScale);
        update(number, outcome.report);
        agree(loss, hooks, outcome);
    }
    const double seconds = secondsSince(begin);
    outcome.report.stepMs = seconds * 1e3;
    outcome.report.tokensPerSecond = static_cast<double>(config_.tokensPerStep()) / seconds;
    outcome.report.mfu = outcome.report.tokensPerSecond * modelFlopPerToken(config_.model) / peakFlops_;
    count(outcome.report, (processCpuSeconds() - cpuBefore) / seconds);
    // Tells a rank that was preempted from one that slept.
    if (const auto queue = queuedAtWorkNs(); queue && queueBefore)
        recorder_.counter(names_.queue, static_cast<double>(*queue - *queueBefore) * 1e-9);
    return outcome;
}

/// Time without a core but in waits for other ranks, which yield it.
std::optional<std::int64_t> Trainer::queuedAtWorkNs() const
{
    const auto queued = runQueueNs();
    return queued ? std::optional(*queued - communicator_.queuedInWaitsNs()) : std::nullopt;
}

void Trainer::update(std::int64_t number, StepReport& report)
{
    const OpenSpan span = recorder_.range(
        { .name = names_.optimizer, .kind = RangeKind::Optimizer, .step = static_cast<std::uint32_t>(number) });
    report.gradientNorm = std::sqrt(
        runner_.sumOverStages(optimizer_.squaredNorm(place_.tp == 0, config_.parallel.zero > 0 || place_.ep == 0)));
    if (std::isfinite(report.gradientNorm))
        optimizer_.update(number - 1, report.gradientNorm, [this](std::size_t shard) { runner_.gatherWeights(shard); });
}

void Trainer::agree(double lossSum, const Hooks& hooks, StepOutcome& outcome)
{
    const double limit = config_.train.maxSeconds;
    enum { Loss, Stop, Time, NotANumber, Save, Written, Count };
    std::vector<double> sums(Count);
    sums[Loss] = countedOnce(lossSum);
    sums[Stop] = hooks.shouldStop && hooks.shouldStop() ? 1 : 0;
    sums[Time] = limit > 0 && secondsSince(began_) >= limit ? 1 : 0;
    sums[NotANumber] = std::isfinite(outcome.report.gradientNorm) ? 0 : 1;
    sums[Save] = hooks.shouldSave && hooks.shouldSave() ? 1 : 0;
    sums[Written] = checkpointer_ ? checkpointer_->doneVote() : 0;
    const Request agreed = communicator_.allReduce(std::span(sums), groups_.world, "loss and stop");
    if (faults_)
        faults_->inAllReduce();
    communicator_.wait(agreed);
    outcome.report.loss = sums[Loss] / static_cast<double>(config_.tokensPerStep());
    outcome.saves = sums[Save] > 0;
    if (sums[NotANumber] > 0 || !std::isfinite(sums[Loss]))
        outcome.end = RunEnd::NotANumber;
    else if (sums[Stop] > 0)
        outcome.end = RunEnd::Stopped;
    else if (sums[Time] > 0)
        outcome.end = RunEnd::TimeIsUp;
    if (checkpointer_)
        checkpointer_->publishIfDone(sums[Written]);
}

void Trainer::validate(std::int64_t stepsDone, const Hooks& hooks)
{
    const OpenSpan span = recorder_.range({ .name = names_.validation, .kind = RangeKind::Validation });
    const int sequences = config_.batch.microBatch;
    const int total = config_.train.validateBatches * sequences * config_.parallel.dp;
    const auto source = [&](int microBatch) {
        return dataset_.heldOut((microBatch * config_.parallel.dp + place_.dp) * sequences, sequences, total);
    };
    std::vector<double> sum{ countedOnce(runner_.evaluate(config_.train.validateBatches, source)) };
    communicator_.wait(communicator_.allReduce(std::span(sum), groups_.world, "held-out loss"));
    ValidationReport report{ .step = stepsDone, .tokens = static_cast<std::int64_t>(total) * config_.model.sequence };
    report.loss = sum[0] / static_cast<double>(report.tokens);
    if (communicator_.rank() == 0)
        recorder_.counter(names_.heldOutLoss, report.loss);
    if (hooks.validation)
        hooks.validation(report);
}

void Trainer::countExperts()
{
    const ExpertLoad load = stage_.takeExpertLoad();
    const std::size_t first = static_cast<std::size_t>(place_.ep) * names_.experts.size();
    for (std::size_t i = 0; i < names_.experts.size(); ++i)
        recorder_.counter(names_.experts[i], static_cast<double>(load.tokens.at(first + i)));
    recorder_.counter(names_.dropped, static_cast<double>(load.dropped));
    recorder_.counter(names_.balance, load.balance / static_cast<double>(load.passes));
}

void Trainer::count(const StepReport& report, double cpuCores)
{
    recorder_.counter(names_.memory, static_cast<double>(residentBytes()));
    recorder_.counter(names_.optimizerState,
        static_cast<double>(optimizer_.moment1().size_bytes() + optimizer_.moment2().size_bytes()));
    recorder_.counter(names_.cpu, cpuCores);
    if (config_.model.experts > 0)
        countExperts();
    if (communicator_.rank() != 0)
        return;
    recorder_.counter(names_.loss, report.loss);
    recorder_.counter(names_.tokens, report.tokensPerSecond);
    recorder_.counter(names_.gradientNorm, report.gradientNorm);
}

} // namespace rankscope::backend
