#include "backend/parallel/learning_rate.h"

#include <gtest/gtest.h>

namespace rankscope::backend {

TEST(LearningRate, RisesInAStraightLineThenFallsAlongACosineToItsShare)
{
    // Steps 0 to 3 warm up, 4 to 8 fall over half a cosine from 1 to 0.2; in the middle (6) it is their mean.
    const LearningRate rate{ .peak = 1, .final = 0.2, .warmup = 4, .steps = 9 };
    EXPECT_DOUBLE_EQ(rate.at(0), 0.25);
    EXPECT_DOUBLE_EQ(rate.at(3), 1);
    EXPECT_DOUBLE_EQ(rate.at(4), 1);
    EXPECT_DOUBLE_EQ(rate.at(6), 0.6);
    EXPECT_DOUBLE_EQ(rate.at(8), 0.2);
}

TEST(LearningRate, WithoutWarmUpTheFirstStepIsThePeak)
{
    const LearningRate rate{ .peak = 3e-4, .final = 0.1, .warmup = 0, .steps = 1 };
    EXPECT_DOUBLE_EQ(rate.at(0), 3e-4);
}

} // namespace rankscope::backend
