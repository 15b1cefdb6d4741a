#include "backend/parallel/pipeline_runner.h"

#include "tracing/model/check.h"

#include <algorithm>
#include <numeric>

namespace rankscope::backend {

using tracing::BubblePhase;
using tracing::OpenSpan;
using tracing::Pass;
using tracing::RangeKind;

namespace {

constexpr std::size_t kReceivesAhead = 2;

std::vector<int> microBatchesOf(const std::vector<Action>& actions, ActionKind kind)
{
    std::vector<int> microBatches;
    for (const Action& action : actions) {
        if (action.kind == kind)
            microBatches.push_back(action.microBatch);
    }
    return microBatches;
}

} // namespace

PipelineRunner::PipelineRunner(
    const Options& options, GptStage& stage, Communicator& communicator, tracing::Recorder& recorder)
    : options_(options)
    , stage_(stage)
    , communicator_(communicator)
    , recorder_(recorder)
    , slots_(std::max(1, peakActivations(options.schedule, options.stage)))
    , names_{ .microBatch = recorder.name("micro-batch"),
        .forward = recorder.name("forward"),
        .backward = recorder.name("backward"),
        .data = recorder.name("load batch"),
        .waitForSums = recorder.name("wait for gradient sums") }
{
    // As many messages may be under way as forwards can run ahead: a send never stalls a stage longer than the schedule
    // does.
    const std::size_t depth = static_cast<std::size_t>(slots_) + 1;
    if (!isFirst()) {
        activationsIn_.emplace(linkTo(options_.stage - 1, "activations"), kReceivesAhead);
        gradientsOut_.emplace(linkTo(options_.stage - 1, "activation gradients"), depth);
    }
    if (!isLast()) {
        activationsOut_.emplace(linkTo(options_.stage + 1, "activations"), depth);
        gradientsIn_.emplace(linkTo(options_.stage + 1, "activation gradients"), kReceivesAhead);
    }
    if (options_.data && !options_.isNaive)
        buckets_.emplace(communicator_, *options_.data, stage_.gradients(), options_.bucketFloats);
    stage_.setHooks(hooks());
}

StageHooks PipelineRunner::hooks()
{
    return { .betweenKernels = [this] { communicator_.progress(); },
        .gradientsReady =
            [this](std::size_t, std::size_t end) {
                if (sumsGradients_ && buckets_)
                    buckets_->ready(end);
            },
        .sumOverTensorParts
        = [this](std::span<float> data,
              const char* name) { communicator_.wait(communicator_.allReduce(data, *options_.tensor, name)); } };
}

HiddenLink PipelineRunner::linkTo(int stage, const char* name) const
{
    return { .communicator = &communicator_,
        .group = options_.pipeline,
        .peer = options_.stageRanks[static_cast<std::size_t>(stage)],
        .name = name,
        .count = stage_.hiddenCount() };
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

Batch PipelineRunner::load(const BatchSource& source, int microBatch)
{
    if (!isFirst() && !isLast())
        return {};
    const OpenSpan span = range(names_.data, RangeKind::Data, microBatch);
    return source(microBatch);
}

std::span<const float> PipelineRunner::take(Inbox& inbox, Pass next, int awaitedStage)
{
    if (inbox.isHere())
        return inbox.take();
    const OpenSpan span = bubble(phase_, next, inbox.nextMicroBatch(), awaitedStage);
    return inbox.take();
}

int PipelineRunner::slotOf(int microBatch) const { return microBatch % slots_; }

double PipelineRunner::trainStep(const BatchSource& source, float lossScale)
{
    stage_.zeroGradients();
    if (activationsIn_)
        activationsIn_->expect(microBatchesOf(actions(), ActionKind::Forward));
    if (gradientsIn_)
        gradientsIn_->expect(microBatchesOf(actions(), ActionKind::Backward));
    phase_ = BubblePhase::Fill;
    double loss = 0;
    for (const Action& action : actions()) {
        const OpenSpan span = range(names_.microBatch, RangeKind::MicroBatch, action.microBatch);
        sumsGradients_ = &action == &actions().back();
        if (action.kind == ActionKind::Forward)
            loss += forward(action, source, lossScale);
        else
            backward(action);
        phase_ = BubblePhase::Steady;
    }
    sumsGradients_ = false;
    if (options_.data)
        finishSums();
    return loss;
}

void PipelineRunner::finishSums()
{
    const OpenSpan span = recorder_.range({ .name = names_.waitForSums, .kind = RangeKind::Communication });
    if (buckets_) {
        buckets_->finish();
        return;
    }
    for (const Parameter& parameter : stage_.parameters())
        communicator_.wait(communicator_.allReduce(parameter.gradient, *options_.data, "gradients"));
}

double PipelineRunner::sumOverStages(double share)
{
    std::vector<double> sum{ share };
    const Request request = communicator_.allReduce(std::span(sum), options_.clip, "gradient norm");
    OpenSpan span;
    if (!isFirst())
        span = bubble(BubblePhase::Drain, Pass::Optimizer, std::nullopt, 0);
    communicator_.wait(request);
    return sum[0];
}

double PipelineRunner::forward(const Action& action, const BatchSource& source, float lossScale)
{
    const Batch batch = load(source, action.microBatch);
    MicroBatch input{ .slot = slotOf(action.microBatch),
        .number = static_cast<std::uint16_t>(action.microBatch),
        .tokens = batch.tokens,
        .hiddenIn = {},
        .targets = batch.targets,
        .lossScale = lossScale };
    if (activationsIn_)
        input.hiddenIn = take(*activationsIn_, Pass::Forward, options_.stage - 1);
    const std::span<float> output = activationsOut_ ? activationsOut_->buffer() : std::span<float>();
    double loss = 0;
    {
        const OpenSpan span = range(names_.forward, RangeKind::Forward, action.microBatch);
        loss = stage_.forward(input, output);
    }
    if (activationsIn_)
        activationsIn_->release();
    if (activationsOut_)
        activationsOut_->send(action.microBatch);
    return loss;
}

void PipelineRunner::backward(const Action& action)
{
    const std::span<const float> gradient
        = gradientsIn_ ? take(*gradientsIn_, Pass::Backward, options_.stage + 1) : std::span<const float>();
    const std::span<float> output = gradientsOut_ ? gradientsOut_->buffer() : std::span<float>();
    {
        const OpenSpan span = range(names_.backward, RangeKind::Backward, action.microBatch);
        stage_.backward(slotOf(action.microBatch), gradient, output);
    }
    if (gradientsIn_)
        gradientsIn_->release();
    if (gradientsOut_)
        gradientsOut_->send(action.microBatch);
}

double PipelineRunner::evaluate(int microBatches, const BatchSource& source)
{
    if (activationsIn_) {
        std::vector<int> all(static_cast<std::size_t>(microBatches));
        std::iota(all.begin(), all.end(), 0);
        activationsIn_->expect(all);
    }
    double loss = 0;
    for (int microBatch = 0; microBatch < microBatches; ++microBatch) {
        const Batch batch = load(source, microBatch);
        MicroBatch input{ .number = static_cast<std::uint16_t>(microBatch),
            .tokens = batch.tokens,
            .hiddenIn = {},
            .targets = batch.targets };
        if (activationsIn_)
            input.hiddenIn = activationsIn_->take();
        const std::span<float> output = activationsOut_ ? activationsOut_->buffer() : std::span<float>();
        loss += stage_.evaluate(input, output);
        if (activationsIn_)
            activationsIn_->release();
        if (activationsOut_)
            activationsOut_->send(microBatch);
    }
    return loss;
}

} // namespace rankscope::backend
