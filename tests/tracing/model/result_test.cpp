#include "tracing/model/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace rankscope::tracing {

TEST(Result, HoldsAValueThatCanOnlyMove)
{
    Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
    ASSERT_TRUE(result);
    EXPECT_EQ(**result, 7);
}

TEST(Result, ErrorGathersContextOnTheWayUp)
{
    const Result<int> result = Error("disk full").in("write block 3").in("save run.rsdb");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message(), "save run.rsdb: write block 3: disk full");
}

TEST(ResultDeathTest, TakingTheValueOfAnErrorIsABug)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Result<int> result = Error("no such file");
    EXPECT_DEATH(static_cast<void>(result.value()), "Result holds a value");
}

} // namespace rankscope::tracing
