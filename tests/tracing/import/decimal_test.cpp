#include "tracing/import/json/decimal.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

TEST(Decimal, MicrosecondsBecomeExactNanoseconds)
{
    EXPECT_EQ(microsecondsToNs("1698955060096688"), 1698955060096688000);
    EXPECT_EQ(microsecondsToNs("4458676522690.655"), 4458676522690655);
    EXPECT_EQ(microsecondsToNs("1736405443863674.4"), 1736405443863674400);
    EXPECT_EQ(microsecondsToNs("-0.5"), -500);
}

TEST(Decimal, DigitsBeyondTheThirdRoundHalfAwayFromZero)
{
    EXPECT_EQ(microsecondsToNs("996.9594"), 996959);
    EXPECT_EQ(microsecondsToNs("996.9595"), 996960);
    EXPECT_EQ(microsecondsToNs("0.9999"), 1000);
}

TEST(Decimal, ExponentsAreRead) { EXPECT_EQ(microsecondsToNs("1.5e3"), 1500000); }

TEST(Decimal, WhatIsNoNumberIsRefused)
{
    for (const char* text : { "", "-", "NaN", "Infinity", "12x", "99999999999999999999", "1e300" })
        EXPECT_EQ(microsecondsToNs(text), std::nullopt) << text;
}

TEST(Decimal, WholeNumbersBeyond53BitsKeepEveryDigit)
{
    EXPECT_EQ(wholeNumber("1736405443997036830"), 1736405443997036830);
    EXPECT_EQ(wholeNumber("9007199254740993"), 9007199254740993);
    EXPECT_EQ(wholeNumber("18446744073709551616"), std::nullopt);
}

} // namespace rankscope::tracing
