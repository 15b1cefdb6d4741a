#include "tracing/analysis/launch_times.h"

#include <gtest/gtest.h>

#include <utility>

namespace rankscope::tracing {

TEST(LaunchTimes, TheFirstOfSeveralCallsLaunches)
{
    // Two threads one after the other: 1, 3, 30 and 2, 3, 4; call 3 is made at 50 and at 40.
    LaunchTimes launches;
    EXPECT_TRUE(launches.empty());
    for (const auto& [correlation, begin] :
        { std::pair(1, 10), std::pair(3, 50), std::pair(30, 60), std::pair(2, 20), std::pair(3, 40), std::pair(4, 45) })
        launches.add(correlation, begin);
    launches.finish();
    EXPECT_FALSE(launches.empty());
    EXPECT_EQ(launches.find(1), 10);
    EXPECT_EQ(launches.find(3), 40);
    EXPECT_EQ(launches.find(30), 60);
    EXPECT_EQ(launches.find(2), 20); // back
    EXPECT_EQ(launches.find(5), std::nullopt);
    EXPECT_EQ(launches.find(31), std::nullopt);
    EXPECT_EQ(launches.find(0), std::nullopt);
}

} // namespace rankscope::tracing
