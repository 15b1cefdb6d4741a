#include "tracing/export/info.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

namespace rankscope::tracing {

namespace {

FileInfo sample()
{
    FileInfo info;
    info.facts.run = { "sample", "rankscope", 1'000'000'000'000'000'000, 2, 2, true };
    RankInfo rank;
    rank.rank = 1;
    rank.node = "here";
    rank.stage = 1;
    rank.clockErrorNs = 40;
    info.facts.ranks = { rank };
    info.facts.lanes = { { LaneId{ 3 }, 1, LaneKind::Compute, Dimension::None, "compute", "" },
        { LaneId{ 4 }, 1, LaneKind::Counter, Dimension::None, "loss", "nats" },
        { LaneId{ 5 }, 0, LaneKind::Compute, Dimension::None, "compute", "" } };
    info.spansOfLane = { { LaneId{ 3 }, 70 }, { LaneId{ 5 }, 11 } };
    info.counts = { { "kernel", 81 }, { "copy", 0 } };
    info.facts.window = { 100, 350 };
    info.facts.losses = { { "ring full", 2, "rank 1" } };
    info.facts.provenance = { { "model.layers", "6" } };
    return info;
}

} // namespace

TEST(InfoJson, HasTheKeysThatScriptsRelyOn)
{
    rapidjson::Document document;
    document.Parse(infoJson(sample()).c_str());
    ASSERT_FALSE(document.HasParseError());
    EXPECT_EQ(document["schema"].GetInt(), 1);
    EXPECT_EQ(document["run"]["name"], "sample");
    EXPECT_EQ(document["run"]["start_utc"], "2001-09-09T01:46:40Z"); // 1e9 seconds
    EXPECT_EQ(document["run"]["world_size"].GetInt(), 2);
    EXPECT_EQ(document["run"]["source"], "rankscope");
    const auto& rank = document["ranks"][0];
    EXPECT_EQ(rank["rank"].GetInt(), 1);
    EXPECT_EQ(rank["node"], "here");
    EXPECT_EQ(rank["stage"].GetInt(), 1);
    EXPECT_TRUE(rank["dp"].IsNull());
    EXPECT_EQ(rank["lanes"].GetInt(), 2);
    EXPECT_EQ(rank["spans"].GetInt(), 70);
    EXPECT_EQ(rank["clock_error_ns"].GetInt(), 40);
    EXPECT_EQ(document["counts"]["kernel"].GetInt(), 81);
    EXPECT_EQ(document["window_ns"].GetInt(), 250);
    EXPECT_EQ(document["losses"][0]["kind"], "ring full");
    EXPECT_EQ(document["losses"][0]["count"].GetInt(), 2);
    EXPECT_EQ(document["provenance"]["model.layers"], "6");
}

TEST(InfoText, SaysThatARunIsNotFinished)
{
    FileInfo info = sample();
    EXPECT_EQ(infoText(info).find("not finished"), std::string::npos);
    info.facts.run.finished = false;
    EXPECT_NE(infoText(info).find("not finished"), std::string::npos);
}

} // namespace rankscope::tracing
