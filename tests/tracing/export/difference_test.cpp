#include "tests/tracing/export/sample_run.h"
#include "tracing/export/difference.h"
#include "tracing/export/text_table.h"

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
    EXPECT_NE(text.find("no change"), std::string::npos) << text;
    EXPECT_EQ(text.find("0.0 points"), std::string::npos) << text;
}

TEST(Difference, SpreadTellsNoiseFromAChange)
{
    // Steps of 90 and 110 ms in turns: deviation sqrt(10 * 100 / 9) = 10.5 ms, standard error of a mean of ten 3.33 ms.
    const auto uneven = [](std::int64_t moreNs) {
        RunAnalysis run = sampleRun();
        for (std::size_t i = 0; i < run.steps.size(); ++i)
            run.steps[i].window.endNs = run.steps[i].window.beginNs + (i % 2 ? 110'000'000 : 90'000'000) + moreNs;
        run.stepStats = stepStats(run.steps);
        return run;
    };
    // Twice the error of a difference is 2 * sqrt(2) * 3.33 = 9.4 ms.
    const auto little = differences(uneven(0), uneven(9'000'000)), much = differences(uneven(0), uneven(10'000'000));
    const Difference* mean = find(little, "step time, mean");
    ASSERT_NE(mean, nullptr);
    EXPECT_NEAR(*mean->spreadA, 10.54e6, 0.01e6);
    EXPECT_NEAR(*mean->spreadB, 10.54e6, 0.01e6);
    EXPECT_TRUE(mean->isNoise);
    EXPECT_FALSE(find(much, "step time, mean")->isNoise);
    EXPECT_NE(differenceText(uneven(0), uneven(9'000'000)).find("in the spread"), std::string::npos);
}

TEST(Difference, BriefTableFitsInAMessage)
{
    RunAnalysis b = sampleRun();
    b.facts.run.name = std::string(150, 'n');
    for (int i = 0; i < 30; ++i)
        b.kernels.push_back({ "kernel " + std::to_string(i) + std::string(90, 'k'), "k", KernelFamily::Other, 1,
            1'000'000 + i, 0, std::nullopt, std::nullopt });
    const std::string text = differenceBrief(sampleRun(), b);
    std::size_t lines = 0;
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        ++lines;
        EXPECT_LE(textWidth(std::string_view(text).substr(begin, end - begin)), 100U);
    }
    EXPECT_LE(lines, 20U);
    EXPECT_NE(text.find("step time, mean"), std::string::npos);
    EXPECT_NE(text.find("busbw GB/s, send in pp"), std::string::npos) << text;
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
