#include "kernels/adamw.h"
#include "tests/backend/model/tiny_model.h"

#include <gtest/gtest.h>

namespace rankscope::backend {

using test::kRows;

namespace {

// Trains the tiny model on one batch and gives the last loss a token.
double trainedLoss(int steps, std::vector<float>* weights = nullptr)
{
    auto recorder = test::silentRecorder();
    GptStage stage(test::options(wholeModel(test::kTiny)), *recorder);
    std::vector<float> moment1(stage.values().size()), moment2(stage.values().size());
    const auto all = test::countingTokens(kRows + 1, 1);
    const std::vector<std::int32_t> tokens(all.begin(), all.end() - 1), targets(all.begin() + 1, all.end());
    double loss = 0;
    for (int step = 1; step <= steps; ++step) {
        stage.zeroGradients();
        loss = stage.forward({ .tokens = tokens, .targets = targets, .lossScale = 1.0F / kRows }, {}) / kRows;
        stage.backward(0, 0, {}, {});
        kernels::cpu::adamwStep(stage.values().data(), moment1.data(), moment2.data(), stage.gradients().data(),
            static_cast<std::int64_t>(stage.values().size()), { .learningRate = 1e-2F, .step = step });
    }
    if (weights)
        *weights = test::copyOf(stage.values());
    return loss;
}

} // namespace

TEST(Training, OverfitsOneBatch) { EXPECT_LT(trainedLoss(150), 0.05); }

TEST(Training, RepeatsBitForBit)
{
    std::vector<float> first, second;
    trainedLoss(5, &first);
    trainedLoss(5, &second);
    EXPECT_EQ(first, second);
}

} // namespace rankscope::backend
