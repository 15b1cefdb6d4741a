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

} // namespace rankscope::tracing
