#include "backend/train/report_lines.h"

#include <gtest/gtest.h>

#include <limits>

namespace rankscope::backend {

TEST(ReportLines, AStepIsOneJsonObject)
{
    EXPECT_EQ(
        stepLine(
            { .step = 7, .loss = 2.5, .tokensPerSecond = 1000, .stepMs = 12.3456, .mfu = 0.5, .gradientNorm = 1.25 }),
        R"({"schema":1,"step":7,"loss":2.5,"tokens_per_s":1000.0,"step_ms":12.346,"mfu":0.5000,"grad_norm":1.25})");
}

TEST(ReportLines, ALossThatIsNoNumberIsNull)
{
    EXPECT_EQ(validationLine({ .step = 3, .loss = std::numeric_limits<double>::quiet_NaN(), .tokens = 64 }),
        R"({"schema":1,"event":"validation","step":3,"loss":null,"tokens":64})");
}

TEST(ReportLines, TheEndSaysWhy)
{
    EXPECT_EQ(endLine(RunEnd::Stopped), R"({"schema":1,"event":"end","reason":"stopped"})");
}

} // namespace rankscope::backend
