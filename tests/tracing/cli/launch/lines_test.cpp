#include "tracing/cli/launch/mpi_noise.h"
#include "tracing/cli/launch/run_lines.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

TEST(LineSplitter, JoinsWhatComesInPieces)
{
    LineSplitter lines;
    EXPECT_TRUE(lines.take("one").empty());
    EXPECT_EQ(lines.take(" more\n\ntwo"), (std::vector<std::string>{ "one more", "" }));
    EXPECT_EQ(lines.rest(), "two");
    EXPECT_EQ(lines.rest(), std::nullopt);
}

TEST(ProgressText, SaysStepLossRateAndTimeLeft)
{
    ProgressText progress(10);
    const auto shown
        = progress.take(R"({"schema":1,"step":4,"loss":2.5,"tokens_per_s":1234.4,"step_ms":500,"mfu":0.2})");
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->text, "step 4 of 10   loss 2.500   1234 tokens/s   500.0 ms a step   3 s left");
    EXPECT_FALSE(shown->stays);
}

TEST(ProgressText, ALossThatIsNoNumberIsSaid)
{
    ProgressText progress(0);
    EXPECT_EQ(progress.take(R"({"step":4,"loss":null})")->text, "step 4   loss not a number");
}

TEST(ProgressText, EventsStay)
{
    ProgressText progress(10);
    const auto shown = progress.take(R"({"schema":1,"event":"validation","step":50,"loss":2.731,"tokens":9})");
    EXPECT_EQ(shown->text, "validation after step 50: loss 2.731");
    EXPECT_TRUE(shown->stays);
    EXPECT_EQ(progress.take(R"({"event":"end","reason":"stopped"})")->text, "end: stopped");
    EXPECT_EQ(progress.take(R"({"event":"start","ranks":2})"), std::nullopt);
}

TEST(ProgressText, WhatIsNoJsonIsShownAsItIs)
{
    EXPECT_EQ(ProgressText(1).take("rank 1: out of memory")->text, "rank 1: out of memory");
}

TEST(MpiNoise, KeepsARanksWordsAndSetsBannersAside)
{
    MpiNoiseFilter filter;
    const std::string ruler(74, '-');
    EXPECT_EQ(filter.take("rankscope-train: data.path: no such file"), "rankscope-train: data.path: no such file");
    EXPECT_EQ(filter.take(ruler), std::nullopt);
    EXPECT_EQ(filter.take("Primary job terminated normally, but 1 process returned"), std::nullopt);
    EXPECT_EQ(filter.take(ruler), std::nullopt);
    EXPECT_EQ(filter.take("[vm:1] 1 more process has sent help message"), std::nullopt);
    EXPECT_EQ(filter.take("after"), "after");
    EXPECT_TRUE(filter.heardARank());
    EXPECT_EQ(filter.banners().size(), 2U);
}

TEST(MpiNoise, KnowsWhenNoRankSaidAnything)
{
    MpiNoiseFilter filter;
    filter.take(std::string(74, '-'));
    filter.take("There are not enough slots available");
    EXPECT_FALSE(filter.heardARank());
    EXPECT_EQ(filter.banners(), std::vector<std::string>{ "There are not enough slots available" });
}

} // namespace rankscope::tracing
