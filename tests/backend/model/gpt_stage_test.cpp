#include "tests/backend/model/tiny_model.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>

namespace rankscope::backend {

using test::copyOf;
using test::kRows;
using test::kTiny;

namespace {

struct Batch {
    std::vector<std::int32_t> tokens = test::countingTokens(kRows, 1);
    std::vector<std::int32_t> targets = test::countingTokens(kRows, 4);
    MicroBatch whole(int slot = 0) const { return { .slot = slot, .tokens = tokens, .targets = targets }; }
};

// Loss and gradients of one stage that holds the whole model.
struct Whole {
    std::unique_ptr<tracing::Recorder> recorder = test::silentRecorder();
    GptStage stage{ test::options(wholeModel(kTiny), 2), *recorder };

    double loss(const Batch& batch) { return stage.evaluate(batch.whole(), {}); }
    double train(const Batch& batch)
    {
        const double loss = stage.forward(batch.whole(), {});
        stage.backward(0, 0, {}, {});
        return loss;
    }
};

} // namespace

TEST(GptStage, StartsNearTheLossOfGuessing)
{
    Whole model;
    EXPECT_NEAR(model.loss({}) / kRows, std::log(11.0), 0.05);
}

TEST(GptStage, EvaluationGivesTheLossOfForwardBitForBit)
{
    Whole model;
    const Batch batch;
    EXPECT_EQ(model.loss(batch), model.stage.forward(batch.whole(), {}));
}

namespace {

void expectFiniteDifferences(GptStage& stage, const Batch& batch)
{
    // Along the gradient g of each tensor the loss changes by |g|^2 a unit. In fp32 the loss (about 50) is good to some
    // 1e-5, so a step that moves it by 0.1 leaves 1e-3; the curvature cancels in the central difference.
    // Weights larger than the initial ones, so that attention is not uniform and no gradient is near 0.
    for (float& value : stage.values())
        value *= 8;
    stage.forward(batch.whole(), {});
    stage.backward(0, 0, {}, {});
    for (const Parameter& parameter : stage.parameters()) {
        const std::vector<float> kept = copyOf(parameter.value), gradient = copyOf(parameter.gradient);
        double square = 0;
        for (const float g : gradient)
            square += static_cast<double>(g) * static_cast<double>(g);
        ASSERT_GT(square, 1e-6) << parameter.name;
        const double step = 0.05 / square;
        const auto lossAt = [&](double distance) {
            for (std::size_t i = 0; i < kept.size(); ++i)
                parameter.value[i]
                    = static_cast<float>(static_cast<double>(kept[i]) + distance * static_cast<double>(gradient[i]));
            return stage.evaluate(batch.whole(), {});
        };
        const double slope = (lossAt(step) - lossAt(-step)) / (2 * step);
        std::ranges::copy(kept, parameter.value.begin());
        EXPECT_NEAR(slope / square, 1, 5e-3) << parameter.name;
    }
}

/// With as many choices as experts the loss has no steps, and nothing is dropped.
GptStage::Options withExperts(int topK = 3)
{
    GptStage::Options options = test::options(wholeModel(kTiny), 2);
    options.config.experts = 3;
    options.config.topK = topK;
    options.config.capacityFactor = 0;
    options.config.balanceLoss = 0; // not a part of the loss that forward() gives
    return options;
}

} // namespace

TEST(GptStage, GradientsAreThoseOfFiniteDifferences)
{
    Whole model;
    expectFiniteDifferences(model.stage, {});
}

TEST(GptStage, GradientsOfExpertsAndTheirRouterAreThoseOfFiniteDifferences)
{
    const auto recorder = test::silentRecorder();
    GptStage stage(withExperts(), *recorder);
    expectFiniteDifferences(stage, {});
}

TEST(GptStage, CountsWhatItsExpertsDidAndWhatTheyDropped)
{
    const auto recorder = test::silentRecorder();
    GptStage::Options options = withExperts(1);
    options.config.capacityFactor = 1; // 7 of 21 tokens an expert
    GptStage stage(options, *recorder);
    stage.setHooks({ .hotExpert = [] { return HotExpert{ .expert = 1, .share = 1 }; } });
    const Batch batch;
    stage.forward(batch.whole(), {});
    stage.backward(0, 0, {}, {});
    const ExpertLoad load = stage.takeExpertLoad();
    EXPECT_EQ(load.tokens, (std::vector<std::int64_t>{ 0, 14, 0 })) << "7 in each of two layers";
    EXPECT_EQ(load.dropped, 28);
    EXPECT_EQ(load.passes, 2);
    EXPECT_TRUE(stage.takeExpertLoad().tokens.empty());
}

TEST(GptStage, DeferredAndRecomputedExpertsGiveTheSameGradients)
{
    const auto recorder = test::silentRecorder();
    const Batch batch;
    GptStage::Options options = withExperts(2);
    options.config.balanceLoss = 0.1;
    const auto gradientsOf = [&] {
        GptStage stage(options, *recorder);
        stage.forward(batch.whole(), {});
        stage.backward(0, 0, {}, {});
        if (options.defersWeights)
            stage.backwardWeights(0, 0);
        return copyOf(stage.gradients());
    };
    const std::vector<float> kept = gradientsOf();
    options.recompute = Recompute::Selective;
    EXPECT_EQ(gradientsOf(), kept);
    options.recompute = Recompute::Full;
    EXPECT_EQ(gradientsOf(), kept);
    options.recompute = Recompute::None;
    options.defersWeights = true;
    EXPECT_EQ(gradientsOf(), kept);
}

TEST(GptStage, GradientsAddOverMicroBatchesAndScaleWithTheLoss)
{
    Whole model;
    Batch batch;
    model.train(batch);
    const std::vector<float> once = copyOf(model.stage.gradients());
    MicroBatch doubled = batch.whole();
    doubled.lossScale = 2;
    model.stage.forward(doubled, {});
    model.stage.backward(0, 0, {}, {});
    for (std::size_t i = 0; i < once.size(); ++i)
        ASSERT_NEAR(model.stage.gradients()[i], 3 * once[i], 1e-4 * (1 + std::abs(once[i])));
    model.stage.zeroGradients();
    EXPECT_TRUE(std::ranges::all_of(model.stage.gradients(), [](float g) { return g == 0; }));
}

TEST(GptStage, TwoStagesAreOneBitForBit)
{
    Whole whole;
    auto recorder = test::silentRecorder();
    GptStage first(test::options(sliceOf(kTiny, 0, 2), 2), *recorder);
    GptStage second(test::options(sliceOf(kTiny, 1, 2), 2), *recorder);
    const Batch batch;
    std::vector<float> hidden(first.hiddenCount()), gradient(first.hiddenCount());
    // Two micro-batches in flight, as in a pipeline.
    for (int slot = 0; slot < 2; ++slot) {
        first.forward({ .slot = slot, .tokens = batch.tokens }, hidden);
        const double loss = second.forward({ .slot = slot, .hiddenIn = hidden, .targets = batch.targets }, {});
        EXPECT_EQ(loss, whole.stage.forward(batch.whole(slot), {}));
    }
    for (int slot = 0; slot < 2; ++slot) {
        second.backward(0, slot, {}, gradient);
        first.backward(0, slot, gradient, {});
        whole.stage.backward(0, slot, {}, {});
    }
    std::map<std::string, std::vector<float>> expected;
    for (const Parameter& parameter : whole.stage.parameters())
        expected[parameter.name] = copyOf(parameter.gradient);
    std::size_t compared = 0;
    for (GptStage* stage : { &first, &second }) {
        for (const Parameter& parameter : stage->parameters()) {
            EXPECT_EQ(copyOf(parameter.gradient), expected.at(parameter.name)) << parameter.name;
            ++compared;
        }
    }
    EXPECT_EQ(compared, expected.size());
}

TEST(GptStage, InitialWeightsDependOnTheSeedAndTheNameOnly)
{
    Whole whole;
    auto recorder = test::silentRecorder();
    GptStage second(test::options(sliceOf(kTiny, 1, 2)), *recorder);
    std::map<std::string, std::vector<float>> expected;
    for (const Parameter& parameter : whole.stage.parameters())
        expected[parameter.name] = copyOf(parameter.value);
    for (const Parameter& parameter : second.parameters())
        EXPECT_EQ(copyOf(parameter.value), expected.at(parameter.name)) << parameter.name;
    GptStage::Options other = test::options(wholeModel(kTiny));
    other.seed = 6;
    GptStage reseeded(other, *recorder);
    EXPECT_NE(copyOf(reseeded.values()), copyOf(whole.stage.values()));
}

TEST(GptStage, AnnouncesGradientsInAscendingRangesThatCoverTheBuffer)
{
    Whole model;
    std::size_t next = 0, calls = 0, pauses = 0;
    model.stage.setHooks({ .betweenKernels = [&] { ++pauses; },
        .gradientsReady =
            [&](std::size_t begin, std::size_t end) {
                EXPECT_EQ(begin, next);
                EXPECT_LT(begin, end);
                next = end;
                ++calls;
            } });
    model.train({});
    EXPECT_EQ(next, model.stage.gradients().size());
    EXPECT_EQ(calls, 4U); // head, two layers, embedding
    EXPECT_GT(pauses, 60U); // 22 kernels forward, 41 backward
}

TEST(GptStage, ParametersTileTheBuffersInOrder)
{
    Whole model;
    std::size_t next = 0;
    for (const Parameter& parameter : model.stage.parameters()) {
        EXPECT_EQ(parameter.offset, next);
        EXPECT_EQ(parameter.value.data(), model.stage.values().data() + next);
        EXPECT_EQ(parameter.gradient.data(), model.stage.gradients().data() + next);
        EXPECT_EQ(parameter.weightDecay, parameter.name.ends_with(".weight") || parameter.name == "embedding.tokens");
        next += parameter.value.size();
    }
    EXPECT_EQ(next, model.stage.values().size());
    EXPECT_EQ(model.stage.parameters().front().name, "head.weight");
    EXPECT_EQ(model.stage.parameters().back().name, "embedding.positions");
}

TEST(GptStage, DeferredWeightsGiveTheSameGradientsBitForBit)
{
    Whole whole;
    const Batch batch;
    whole.train(batch);
    GptStage::Options options = test::options(wholeModel(kTiny));
    options.defersWeights = true;
    GptStage deferred(options, *whole.recorder);
    std::vector<std::size_t> ends;
    deferred.setHooks(
        { .betweenKernels = {}, .gradientsReady = [&](std::size_t, std::size_t end) { ends.push_back(end); } });
    deferred.forward(batch.whole(), {});
    deferred.backward(0, 0, {}, {});
    EXPECT_TRUE(ends.empty()) << "nothing is final before the weights";
    deferred.backwardWeights(0, 0);
    EXPECT_EQ(copyOf(deferred.gradients()), copyOf(whole.stage.gradients()));
    EXPECT_EQ(ends.back(), deferred.gradients().size());
}

TEST(GptStage, ChunksOfOneStageGiveTheGradientsOfTheWholeBitForBit)
{
    Whole whole;
    const Batch batch;
    const double loss = whole.train(batch);
    GptStage::Options options = test::options(wholeModel(kTiny));
    options.chunks = { { sliceOf(kTiny, 0, 2), 1 }, { sliceOf(kTiny, 1, 2), 1 } };
    GptStage stage(options, *whole.recorder);
    std::vector<float> hidden(stage.hiddenCount()), gradient(stage.hiddenCount());
    stage.forward({ .chunk = 0, .tokens = batch.tokens }, hidden);
    EXPECT_EQ(stage.forward({ .chunk = 1, .hiddenIn = hidden, .targets = batch.targets }, {}), loss);
    stage.backward(1, 0, {}, gradient);
    stage.backward(0, 0, gradient, {});
    EXPECT_EQ(copyOf(stage.gradients()), copyOf(whole.stage.gradients()));
}

} // namespace rankscope::backend
