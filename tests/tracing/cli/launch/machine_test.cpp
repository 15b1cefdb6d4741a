#include "tracing/cli/launch/machine.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

TEST(Machine, AQuotaIsRoundedUpToWholeCores)
{
    EXPECT_EQ(coresOfQuota("200000 100000"), 2);
    EXPECT_EQ(coresOfQuota("150000 100000"), 2);
    EXPECT_EQ(coresOfQuota("50000 100000"), 1);
}

TEST(Machine, NoQuotaIsNone)
{
    EXPECT_EQ(coresOfQuota("max 100000"), std::nullopt);
    EXPECT_EQ(coresOfQuota("-1 100000"), std::nullopt);
    EXPECT_EQ(coresOfQuota(""), std::nullopt);
}

TEST(Machine, FindsAShellInThePathAndNothingThatIsNotThere)
{
    EXPECT_TRUE(findInPath("sh").has_value());
    EXPECT_FALSE(findInPath("rankscope-no-such-program").has_value());
}

TEST(Machine, HasAtLeastOneCore) { EXPECT_GE(thisMachine().cores, 1); }

} // namespace rankscope::tracing
