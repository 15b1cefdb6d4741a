#include "app/launch/plan.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

TEST(Plan, ReadsLayoutAndKeys)
{
    const auto plan = parsePlan(R"({"schema":1,"ok":true,"errors":[],"warnings":["steps are few"],"ranks":4,"cores":2,
        "threads":1,"ranks_share_cores":true,"parameters":1500000,
        "layout":{"dp":2,"tp":1,"pp":2,"ep":1,"ranks":[{"memory_bytes":3000000},{"memory_bytes":5000000}]},
        "schedule":{"name":"1f1b","micro_batches":4,"bubble_share":0.2},
        "keys":[{"key":"parallel.dp","meaning":"replicas","allowed":"1 to 8","value":"2"}]})");
    ASSERT_TRUE(plan) << plan.error().message();
    EXPECT_TRUE(plan->isRunnable());
    EXPECT_EQ(plan->ranks, 4);
    const QStringList expected{ "4 ranks: dp 2, tp 1, pp 2, ep 1 · 1 thread each · they share 2 cores",
        "1.5 million parameters · at most 5 MB a rank",
        "1f1b, 4 micro-batches · a balanced pipeline is idle for 20.0 % of a step", "steps are few" };
    EXPECT_EQ(plan->summary, expected);
    ASSERT_TRUE(plan->key("parallel.dp"));
    EXPECT_EQ(plan->key("parallel.dp")->value, "2");
    EXPECT_FALSE(plan->key("parallel.xp"));
}

TEST(Plan, PutsAnErrorAtTheKeyThatItNames)
{
    const auto plan = parsePlan(
        R"({"errors":["parallel.dp = 0: allowed is 1 to 8","model.foo: unknown key","no such file"],"keys":[]})");
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan->isRunnable());
    EXPECT_EQ(plan->faultsOf("parallel.dp"), "parallel.dp = 0: allowed is 1 to 8");
    EXPECT_EQ(plan->faultsOf("model.foo"), "model.foo: unknown key");
    EXPECT_EQ(plan->faultsOf(""), "no such file");
}

TEST(Plan, RefusesWhatIsNoJson)
{
    const auto plan = parsePlan("Segmentation fault");
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().message().find("read the plan"), std::string::npos);
}

} // namespace
} // namespace rankscope::app
