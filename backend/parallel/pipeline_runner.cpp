#include "backend/parallel/pipeline_runner.h"

#include "tracing/model/check.h"

#include <algorithm>
#include <utility>

namespace rankscope::backend {

using tracing::BubblePhase;
using tracing::OpenSpan;
using tracing::Pass;
using tracing::RangeKind;

namespace {

constexpr std::size_t kReceivesAhead = 2;

} // namespace

PipelineRunner::PipelineRunner(
    const Options& options, GptStage& stage, Communicator& communicator, tracing::Recorder& recorder)
    : options_(options)
    , stage_(stage)
    , communicator_(communicator)
    , recorder_(recorder)
    , names_{ .microBatch = recorder.name("micro-batch"),
        .forward = recorder.name("forward"),
        .backward = recorder.name("backward"),
        .weights = recorder.name("weight gradients"),
        .data = recorder.name("load batch"),
        .waitForSums = recorder.name("wait for gradient sums"),
        .waitForWeights = recorder.name("wait for weights") }
{
    const Schedule& schedule = options_.schedule;
    for (int chunk = 0; chunk < schedule.chunks; ++chunk)
        slots_.push_back(std::max(1, peakActivations(schedule, options_.stage, chunk)));
    // As many messages may be under way as forwards can run ahead: a send never stalls a stage longer than the schedule
    // does.
    const auto depth = static_cast<std::size_t>(peakActivations(schedule, options_.stage) + 1);
    if (schedule.chunks > 1 || options_.stage > 0) {
        activationsIn_.emplace(linkTo(stageBefore(), Channel::Activations), kReceivesAhead);
        gradientsOut_.emplace(linkTo(stageBefore(), Channel::Gradients), depth);
    }
    if (schedule.chunks > 1 || options_.stage + 1 < schedule.stages) {
        activationsOut_.emplace(linkTo(stageAfter(), Channel::Activations), depth);
        gradientsIn_.emplace(linkTo(stageAfter(), Channel::Gradients), kReceivesAhead);
    }
    if (options_.data && !options_.isNaive) {
        for (const SharedRange& range : sharedRanges(stage_, options_.bucketFloats))
            sums_.emplace_back(communicator_, range.begin == 0 ? options_.data : options_.expertData, stage_, range,
                options_.shardsOptimizer);
    }
    stage_.setHooks(hooks());
}

StageHooks PipelineRunner::hooks()
{
    // Whole kernels are quicker than pieces: only where somebody has to look in between.
    std::function<void()> betweenKernels = options_.also.betweenKernels;
    if (options_.exchanges)
        betweenKernels = [this] {
            communicator_.progress();
            if (options_.also.betweenKernels)
                options_.also.betweenKernels();
        };
    return { .betweenKernels = std::move(betweenKernels),
        .insideKernel = options_.also.insideKernel,
        .gradientsReady =
            [this](std::size_t begin, std::size_t end) {
                for (ReplicaSums& sums : sums_) {
                    if (sumsGradients_ && sums.has(begin))
                        sums.ready(end);
                }
            },
        .weightsNeeded = [this](std::size_t begin, std::size_t end) { needWeights(begin, end); },
        .overTensorParts
        = [this](TensorOp op, std::span<float> data, const char* name) { return overTensorParts(op, data, name); },
        .betweenExperts = [this](std::span<const std::span<const std::byte>> toEach,
                              std::span<const std::span<std::byte>> fromEach, const char* name) -> ExchangeWait {
            const Request request = communicator_.allToAll(toEach, fromEach, *options_.experts, name);
            return [this, request] { communicator_.wait(request); };
        },
        .hotExpert = options_.also.hotExpert };
}

ExchangeWait PipelineRunner::overTensorParts(TensorOp op, std::span<float> data, const char* name)
{
    const GroupId group = *options_.tensor;
    const Request request = op == TensorOp::Sum ? communicator_.allReduce(data, group, name)
        : op == TensorOp::Gather                ? communicator_.allGather(data, group, name)
                                                : communicator_.reduceScatter(data, group, name);
    return [this, request] { communicator_.wait(request); };
}

void PipelineRunner::sumTensorSummands()
{
    // In one piece: they are many and small.
    std::vector<float> sums;
    for (const Parameter& parameter : stage_.parameters()) {
        if (parameter.isTensorSummand)
            sums.insert(sums.end(), parameter.gradient.begin(), parameter.gradient.end());
    }
    if (sums.empty())
        return;
    communicator_.wait(communicator_.allReduce(std::span(sums), *options_.tensor, "norm gradients"));
    std::span<const float> left = sums;
    for (const Parameter& parameter : stage_.parameters()) {
        if (!parameter.isTensorSummand)
            continue;
        std::ranges::copy(left.first(parameter.gradient.size()), parameter.gradient.begin());
        left = left.subspan(parameter.gradient.size());
    }
}

HiddenLink PipelineRunner::linkTo(int stage, Channel channel) const
{
    return { .communicator = &communicator_,
        .group = options_.pipeline,
        .peer = options_.stageRanks[static_cast<std::size_t>(stage)],
        .name = channel == Channel::Activations ? "activations" : "activation gradients",
        .channel = static_cast<int>(channel),
        .count = stage_.hiddenCount() };
}

std::vector<int> PipelineRunner::arriving(ActionKind kind) const
{
    std::vector<int> microBatches;
    for (const Action& action : actions()) {
        const bool isForward = action.kind == ActionKind::Forward;
        if (isForward != (kind == ActionKind::Forward) || action.kind == ActionKind::BackwardWeight)
            continue;
        if (!(isForward ? isFirstPart(action.chunk) : isLastPart(action.chunk)))
            microBatches.push_back(action.microBatch);
    }
    return microBatches;
}

bool PipelineRunner::isLastOfChunk(const Action& action) const
{
    const auto same = [&](const Action& other) { return other.kind == action.kind && other.chunk == action.chunk; };
    return std::none_of(&action + 1, actions().data() + actions().size(), same);
}

OpenSpan PipelineRunner::range(tracing::LocalName name, RangeKind kind, int microBatch)
{
    return recorder_.range({ .name = name, .kind = kind, .microBatch = static_cast<std::uint16_t>(microBatch) });
}

OpenSpan PipelineRunner::bubble(BubblePhase phase, Pass next, std::optional<int> microBatch, int awaitedStage)
{
    tracing::BubbleInfo info{ .phase = phase,
        .next = next,
        .stage = static_cast<std::uint16_t>(options_.stage),
        .awaitedRank = options_.stageRanks[static_cast<std::size_t>(awaitedStage)] };
    if (microBatch)
        info.microBatch = static_cast<std::uint16_t>(*microBatch);
    return recorder_.bubble(info);
}

Batch PipelineRunner::load(const BatchSource& source, const Action& action)
{
    if (!isFirstPart(action.chunk) && !isLastPart(action.chunk))
        return {};
    const OpenSpan span = range(names_.data, RangeKind::Data, action.microBatch);
    return source(action.microBatch);
}

std::span<const float> PipelineRunner::take(Inbox& inbox, Pass next, int awaitedStage)
{
    if (inbox.isHere())
        return inbox.take();
    const OpenSpan span = bubble(phase_, next, inbox.nextMicroBatch(), awaitedStage);
    return inbox.take();
}

double PipelineRunner::trainStep(const BatchSource& source, float lossScale)
{
    stage_.zeroGradients();
    if (activationsIn_)
        activationsIn_->expect(arriving(ActionKind::Forward));
    if (gradientsIn_)
        gradientsIn_->expect(arriving(ActionKind::Backward));
    phase_ = BubblePhase::Fill;
    double loss = 0;
    for (const Action& action : actions()) {
        const OpenSpan span = range(names_.microBatch, RangeKind::MicroBatch, action.microBatch);
        sumsGradients_ = isLastOfChunk(action);
        if (action.kind == ActionKind::Forward)
            loss += forward(action, source, lossScale);
        else if (action.kind == ActionKind::BackwardWeight)
            backwardWeights(action);
        else
            backward(action);
        phase_ = BubblePhase::Steady;
    }
    sumsGradients_ = false;
    if (options_.data)
        finishSums();
    if (options_.tensor)
        sumTensorSummands();
    return loss;
}

void PipelineRunner::finishSums()
{
    const OpenSpan span = recorder_.range({ .name = names_.waitForSums, .kind = RangeKind::Communication });
    for (ReplicaSums& sums : sums_)
        sums.finish();
    if (!options_.isNaive)
        return;
    for (const Parameter& parameter : stage_.parameters()) {
        if (const auto group = parameter.isExpert ? options_.expertData : options_.data)
            communicator_.wait(communicator_.allReduce(parameter.gradient, *group, "gradients"));
    }
}

void PipelineRunner::gatherWeights(std::size_t bucket)
{
    for (ReplicaSums& sums : sums_) {
        if (bucket < sums.bucketCount())
            return sums.start(bucket);
        bucket -= sums.bucketCount();
    }
}

void PipelineRunner::finishWeights()
{
    for (const SharedRange& range : sharedRanges(stage_, options_.bucketFloats))
        needWeights(range.begin, range.begin + range.count);
}

void PipelineRunner::needWeights(std::size_t begin, std::size_t end)
{
    for (ReplicaSums& sums : sums_) {
        if (!sums.has(begin) || sums.isHere(begin, end))
            continue;
        const OpenSpan span = recorder_.range({ .name = names_.waitForWeights, .kind = RangeKind::Communication });
        sums.need(begin, end);
    }
}

double PipelineRunner::sumOverStages(double share)
{
    std::vector<double> sum{ share };
    const Request request = communicator_.allReduce(std::span(sum), options_.clip, "gradient norm");
    OpenSpan span;
    if (options_.stage > 0)
        span = bubble(BubblePhase::Drain, Pass::Optimizer, std::nullopt, 0);
    communicator_.wait(request);
    return sum[0];
}

double PipelineRunner::forward(const Action& action, const BatchSource& source, float lossScale)
{
    const Batch batch = load(source, action);
    MicroBatch input{ .chunk = action.chunk,
        .slot = slotOf(action),
        .number = static_cast<std::uint16_t>(action.microBatch),
        .tokens = isFirstPart(action.chunk) ? batch.tokens : std::span<const std::int32_t>(),
        .hiddenIn = {},
        .targets = isLastPart(action.chunk) ? batch.targets : std::span<const std::int32_t>(),
        .lossScale = lossScale };
    const bool receives = !isFirstPart(action.chunk), sends = !isLastPart(action.chunk);
    if (receives)
        input.hiddenIn = take(*activationsIn_, Pass::Forward, stageBefore());
    const std::span<float> output = sends ? activationsOut_->buffer() : std::span<float>();
    double loss = 0;
    {
        const OpenSpan span = range(names_.forward, RangeKind::Forward, action.microBatch);
        loss = stage_.forward(input, output);
    }
    if (receives)
        activationsIn_->release();
    if (sends)
        activationsOut_->send(action.microBatch);
    return loss;
}

void PipelineRunner::backward(const Action& action)
{
    const bool receives = !isLastPart(action.chunk), sends = !isFirstPart(action.chunk);
    const std::span<const float> gradient
        = receives ? take(*gradientsIn_, Pass::Backward, stageAfter()) : std::span<const float>();
    const std::span<float> output = sends ? gradientsOut_->buffer() : std::span<float>();
    {
        const OpenSpan span = range(names_.backward, RangeKind::Backward, action.microBatch);
        stage_.backward(action.chunk, slotOf(action), gradient, output);
    }
    if (receives)
        gradientsIn_->release();
    if (sends)
        gradientsOut_->send(action.microBatch);
}

void PipelineRunner::backwardWeights(const Action& action)
{
    const OpenSpan span = range(names_.weights, RangeKind::Backward, action.microBatch);
    stage_.backwardWeights(action.chunk, slotOf(action));
}

double PipelineRunner::evaluate(int microBatches, const BatchSource& source)
{
    // As many micro-batches of a chunk at a time as there are stages, so that all of them are busy.
    const int lot = options_.schedule.stages;
    std::vector<Action> passes;
    std::vector<int> arrivals;
    for (int first = 0; first < microBatches; first += lot) {
        for (int chunk = 0; chunk < options_.schedule.chunks; ++chunk) {
            for (int microBatch = first; microBatch < std::min(first + lot, microBatches); ++microBatch) {
                passes.push_back({ .kind = ActionKind::Forward, .microBatch = microBatch, .chunk = chunk });
                if (!isFirstPart(chunk))
                    arrivals.push_back(microBatch);
            }
        }
    }
    if (activationsIn_)
        activationsIn_->expect(arrivals);
    double loss = 0;
    for (const Action& pass : passes)
        loss += evaluate(pass, source);
    return loss;
}

double PipelineRunner::evaluate(const Action& action, const BatchSource& source)
{
    const Batch batch = load(source, action);
    MicroBatch input{ .chunk = action.chunk,
        .number = static_cast<std::uint16_t>(action.microBatch),
        .tokens = isFirstPart(action.chunk) ? batch.tokens : std::span<const std::int32_t>(),
        .hiddenIn = {},
        .targets = isLastPart(action.chunk) ? batch.targets : std::span<const std::int32_t>() };
    const bool receives = !isFirstPart(action.chunk), sends = !isLastPart(action.chunk);
    if (receives)
        input.hiddenIn = activationsIn_->take();
    const double loss = stage_.evaluate(input, sends ? activationsOut_->buffer() : std::span<float>());
    if (receives)
        activationsIn_->release();
    if (sends)
        activationsOut_->send(action.microBatch);
    return loss;
}

} // namespace rankscope::backend
