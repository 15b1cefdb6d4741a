#include "tests/tracing/export/sample_run.h"
#include "tracing/export/difference.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

namespace rankscope::tracing {

namespace {

const Difference* find(const std::vector<Difference>& rows, const std::string& what)
{
    for (const Difference& row : rows) {
        if (row.what == what)
            return &row;
    }
    return nullptr;
}

} // namespace

TEST(Difference, PutsTheSameFigureOfBothRunsSideBySide)
{
    RunAnalysis b = sampleRun();
    b.stepStats.meanNs = 80'000'000;
    b.kernels[0].totalNs = 500'000'000;
    b.series.clear();
    const auto rows = differences(sampleRun(), b);
    ASSERT_NE(find(rows, "step time, mean"), nullptr);
    EXPECT_DOUBLE_EQ(*find(rows, "step time, mean")->a, 1e8);
    EXPECT_DOUBLE_EQ(*find(rows, "step time, mean")->b, 8e7);
    // 1000 ms and 500 ms in 10 steps.
    EXPECT_DOUBLE_EQ(*find(rows, "kernel matmul, per step")->a, 1e8);
    EXPECT_DOUBLE_EQ(*find(rows, "kernel matmul, per step")->b, 5e7);
    EXPECT_DOUBLE_EQ(*find(rows, "pipeline bubble, share of rank time")->a, 0.25);
    EXPECT_DOUBLE_EQ(*find(rows, "loss, last")->a, 2.75);
    EXPECT_EQ(find(rows, "loss, last")->b, std::nullopt);
    EXPECT_EQ(find(rows, "held-out loss, last"), nullptr);
}

TEST(Difference, TextShowsTheChange)
{
    RunAnalysis b = sampleRun();
    b.stepStats.meanNs = 80'000'000;
    const std::string text = differenceText(sampleRun(), b);
    EXPECT_NE(text.find("-20.0 %"), std::string::npos) << text;
    EXPECT_NE(text.find("+0.0 points"), std::string::npos) << text;
}

TEST(Difference, JsonHasASchema)
{
    rapidjson::Document document;
    document.Parse(differenceJson(sampleRun(), sampleRun()).c_str());
    ASSERT_FALSE(document.HasParseError());
    EXPECT_EQ(document["schema"].GetInt(), 1);
    EXPECT_EQ(document["differences"][0]["unit"], "ns");
}

} // namespace rankscope::tracing
