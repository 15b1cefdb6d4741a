#include "backend/model/gpt_config.h"

#include <gtest/gtest.h>

namespace rankscope::backend {

TEST(GptConfig, CountsTheParametersOfGpt2Small)
{
    // GPT-2 small has 124,439,808 with a tied head; ours is untied (+ 50257 * 768): 163,037,184.
    const GptConfig gpt2{ .layers = 12, .width = 768, .heads = 12, .vocab = 50257, .sequence = 1024 };
    EXPECT_EQ(parameterCount(gpt2, wholeModel(gpt2)), 124'439'808U + 50257U * 768U);
}

TEST(GptConfig, StagesDivideLayersAndParameters)
{
    const GptConfig config{ .layers = 6, .width = 32, .heads = 4, .vocab = 100, .sequence = 16 };
    std::size_t sum = 0;
    for (int stage = 0; stage < 3; ++stage) {
        const StageSlice slice = sliceOf(config, stage, 3);
        EXPECT_EQ(slice.firstLayer, 2 * stage);
        EXPECT_EQ(slice.layerCount, 2);
        EXPECT_EQ(slice.hasEmbedding, stage == 0);
        EXPECT_EQ(slice.hasHead, stage == 2);
        sum += parameterCount(config, slice);
    }
    EXPECT_EQ(sum, parameterCount(config, wholeModel(config)));
}

TEST(GptConfig, ModelFlopIsSixAWeightPlusCausalAttention)
{
    // L 1, C 2, T 3, V 5: weights in matrices 12 * 4 + 2 * 5 = 58, times 6 = 348; attention 6 * 2 * 4 = 48.
    EXPECT_DOUBLE_EQ(modelFlopPerToken({ .layers = 1, .width = 2, .heads = 1, .vocab = 5, .sequence = 3 }), 396);
}

TEST(GptConfig, ExpertsAreDividedAndOnlyThoseChosenCompute)
{
    // C 2: an expert has 8 * 4 + 4 * 2 + 2 = 42, a router 2 E; attention 4 * 4 + 3 * 2 + 5 * 2 = 32; L 1, V 5, T 3.
    GptConfig config{ .layers = 1, .width = 2, .heads = 1, .vocab = 5, .sequence = 3, .experts = 4, .topK = 2 };
    const StageSlice layer{ .layerCount = 1 };
    EXPECT_EQ(parameterCount(config, layer), 32U + 8U + 4U * 42U);
    EXPECT_EQ(parameterCount(config, layer, 1, 2), 32U + 8U + 2U * 42U);
    EXPECT_EQ(expertParameterCount(config, layer, 1, 4), 42U);
    // Weights a token meets: 4 * 4 of attention, 2 * 8 * 4 of experts, 2 * 4 of the router, 2 * 5 of the head; 6 each.
    EXPECT_DOUBLE_EQ(modelFlopPerToken(config), 6 * (16 + 64 + 8 + 10) + 6 * 2 * 4);
    config.capacityFactor = 1.25;
    EXPECT_EQ(expertCapacity(config, 3), 6) << "9 rows, 18 choices, 4.5 an expert, a quarter more";
    config.capacityFactor = 0;
    EXPECT_EQ(expertCapacity(config, 3), 9);
}

TEST(GptConfig, ActivationBytesOfOneLayerByHand)
{
    // B 2, T 3, C 4, H 2 in the middle of a pipeline: 6 rows of 16 * 4 + 2 + 4 floats.
    const GptConfig config{ .layers = 3, .width = 4, .heads = 2, .vocab = 5, .sequence = 3 };
    EXPECT_EQ(activationBytes(config, sliceOf(config, 1, 3), 2), 6U * 70U * 4U);
    // On one of two tensor parts 4 * 4 + 4 floats of each row and half of the other 50; of half of the rows, if the
    // parts split the sequence.
    EXPECT_EQ(activationBytes(config, sliceOf(config, 1, 3), 2, { .parts = 2 }), 6U * 45U * 4U);
    EXPECT_EQ(activationBytes(config, sliceOf(config, 1, 3), 2, { .parts = 2, .splitsSequence = true }),
        (3U * 20U + 6U * 25U) * 4U);
    // In bf16 both norms, the heads' outputs and the GELU's take two bytes less: 7 * 4 of the 70.
    EXPECT_EQ(activationBytes(config, sliceOf(config, 1, 3), 2, {}, Recompute::None, Numbers::Bf16),
        6U * (70U * 4U - 28U * 2U));
}

} // namespace rankscope::backend
