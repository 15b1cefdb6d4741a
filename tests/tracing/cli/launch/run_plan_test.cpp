#include "tracing/cli/launch/run_plan.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

TEST(RunPlan, ReadsRanksThreadsStepsAndWarnings)
{
    const auto plan
        = parsePlan(R"({"schema":1,"ok":true,"errors":[],"warnings":["slow"],"ranks":4,"threads":2,"steps":50})");
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->ok);
    EXPECT_EQ(plan->ranks, 4);
    EXPECT_EQ(plan->threads, 2);
    EXPECT_EQ(plan->steps, 50);
    EXPECT_EQ(plan->warnings, std::vector<std::string>{ "slow" });
}

TEST(RunPlan, ErrorsMakeItUnfitToRun)
{
    const auto plan = parsePlan(R"({"errors":["parallel.pp: 3 does not divide model.layers 4",{"message":"x"}]})");
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan->ok);
    EXPECT_EQ(plan->errors, (std::vector<std::string>{ "parallel.pp: 3 does not divide model.layers 4", "x" }));
}

TEST(RunPlan, WhatIsNoPlanIsAnError)
{
    EXPECT_FALSE(parsePlan("Segmentation fault"));
    EXPECT_FALSE(parsePlan("[]"));
    EXPECT_FALSE(parsePlan(R"({"errors":[]})")); // no ranks
}

TEST(RunPlan, SmallerLayoutsComeTheLargestFirst)
{
    const auto plan = parsePlan(R"({"ranks":3,"elastic":[{"ranks":2,"dp":2,"overrides":["parallel.dp=2"]},
        {"ranks":1,"dp":1,"overrides":["parallel.dp=1","batch.micro_batches=6"]},{"ranks":"no"}]})");
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan->smaller.size(), 2U);
    EXPECT_EQ(plan->smaller[0].ranks, 2);
    EXPECT_EQ(plan->smaller[1].overrides, (std::vector<std::string>{ "parallel.dp=1", "batch.micro_batches=6" }));
}

} // namespace rankscope::tracing
