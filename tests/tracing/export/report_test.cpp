#include "tests/tracing/export/sample_run.h"
#include "tracing/export/report_json.h"
#include "tracing/export/report_text.h"
#include "tracing/export/text_table.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <sstream>

namespace rankscope::tracing {

namespace {

rapidjson::Document parsed(const std::string& text)
{
    rapidjson::Document document;
    document.Parse(text.c_str());
    return document;
}

std::vector<std::string> linesOf(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST(ReportJson, HasTheKeysThatScriptsRelyOn)
{
    const auto document = parsed(reportJson(sampleRun()));
    ASSERT_FALSE(document.HasParseError());
    EXPECT_EQ(document["schema"].GetInt(), 1);
    const auto& rank = document["ranks"][1];
    EXPECT_EQ(rank["rank"].GetInt(), 1);
    EXPECT_EQ(rank["window_ns"].GetInt64(), 1'000'000'000);
    EXPECT_EQ(rank["compute_ns"].GetInt64(), 600'000'000);
    EXPECT_EQ(rank["communication_ns"].GetInt64(), 50'000'000);
    EXPECT_EQ(rank["overlap_ns"].GetInt64(), 10'000'000);
    EXPECT_EQ(rank["exposed_communication_ns"].GetInt64(), 40'000'000);
    EXPECT_EQ(rank["copy_ns"].GetInt64(), 0);
    EXPECT_EQ(rank["idle_ns"].GetInt64(), 360'000'000);
    EXPECT_DOUBLE_EQ(rank["overlap_share"].GetDouble(), 0.2);
    for (const char* key :
        { "op", "dimension", "count", "bytes", "wait_ns", "transfer_ns", "algbw_gb_s", "busbw_gb_s", "late_rank" })
        EXPECT_TRUE(document["collectives"][0].HasMember(key)) << key;
    for (const char* key : { "name", "count", "total_ns", "share" })
        EXPECT_TRUE(document["kernels"][0].HasMember(key)) << key;
    for (const char* key : { "severity", "title", "text", "ranks", "begin_ns", "end_ns", "cost_share" })
        EXPECT_TRUE(document["findings"][0].HasMember(key)) << key;
}

TEST(ReportJson, NamesWhatTheStepsRestOn)
{
    RunAnalysis run = sampleRun();
    run.path
        = { { 1, SpanClass::Compute, Dimension::None, 750 }, { 0, SpanClass::Transfer, Dimension::Pipeline, 250 } };
    const auto document = parsed(reportJson(run));
    ASSERT_EQ(document["critical_path"].Size(), 2U);
    const auto& compute = document["critical_path"][0];
    EXPECT_EQ(compute["rank"].GetInt(), 1);
    EXPECT_STREQ(compute["label"].GetString(), "compute");
    EXPECT_TRUE(compute["dimension"].IsNull());
    EXPECT_EQ(compute["ns"].GetInt64(), 750);
    EXPECT_DOUBLE_EQ(compute["share"].GetDouble(), 0.75);
    EXPECT_STREQ(document["critical_path"][1]["dimension"].GetString(), "pp");
}

TEST(ReportText, TheCriticalPathHasALineForEachKindOfTime)
{
    RunAnalysis run = sampleRun();
    // Ten steps: 60 ms of compute a step, of it 40 ms on rank 1, 30 ms of transfers, 10 ms of the host.
    constexpr std::int64_t kMs = 1'000'000;
    run.path = { { 1, SpanClass::Compute, Dimension::None, 400 * kMs },
        { 0, SpanClass::Transfer, Dimension::Pipeline, 300 * kMs },
        { 0, SpanClass::Compute, Dimension::None, 200 * kMs }, { 1, SpanClass::Host, Dimension::None, 100 * kMs } };
    const std::string text = reportText(run);
    EXPECT_TRUE(contains(text, "Critical path: what the 100 ms of a step rest on")) << text;
    EXPECT_TRUE(contains(text, "compute      60.0 %      60.0 ms  rank 1 40.0 %, rank 0 20.0 %\n")) << text;
    EXPECT_TRUE(contains(text, "transfer pp  30.0 %      30.0 ms  rank 0 30.0 %\n")) << text;
    EXPECT_TRUE(contains(text, "host         10.0 %      10.0 ms  rank 1 10.0 %\n")) << text;
}

TEST(ReportJson, SplitOfEachRankSumsToItsWindow)
{
    const auto document = parsed(reportJson(sampleRun()));
    for (const auto& rank : document["ranks"].GetArray()) {
        std::int64_t sum = 0;
        for (const auto& leaf : rank["split_ns"].GetObject())
            sum += leaf.value.GetInt64();
        EXPECT_EQ(sum, rank["window_ns"].GetInt64());
    }
    EXPECT_EQ(document["ranks"][0]["split_ns"]["transfer.pp"].GetInt64(), 5'000'000);
    EXPECT_EQ(document["total"]["split_ns"]["bubble.structural.fill"].GetInt64(), 250'000'000);
}

TEST(ReportText, NamesHeadlineRanksCollectivesKernelsAndFindings)
{
    const std::string text = reportText(sampleRun());
    EXPECT_TRUE(
        contains(text, "sample: 2 of 2 ranks, 10 steps (1-10), a processor, 1 thread, Rankscope, clock ±0.004 ms"));
    EXPECT_TRUE(contains(text, "65.0 %  compute, share of rank time (FLOPs are not in this trace)"));
    EXPECT_TRUE(contains(text, "25.0 % of rank time is pipeline bubble."));
    EXPECT_TRUE(contains(text, "Step time: 100 ms on average, p95 100 ms, worst 100 ms (step 1)"));
    EXPECT_TRUE(contains(text, "Loss: 5.500 at first, 2.750 at last"));
    EXPECT_TRUE(contains(text, "3.50 GFLOP/s"));
    EXPECT_TRUE(contains(text, "rank 1, 39x"));
    EXPECT_TRUE(contains(text, "The network is not the problem"));
}

TEST(BriefText, FitsInTwentyLinesOfAHundredColumns)
{
    RunAnalysis run = sampleRun();
    const Finding finding = run.findings.front();
    run.findings.insert(run.findings.end(), 40, finding);
    run.facts.run.name = std::string(150, 'x');
    const auto lines = linesOf(briefText(run, "sample.rsdb"));
    EXPECT_LE(lines.size(), kBriefLines);
    for (const std::string& line : lines)
        EXPECT_LE(textWidth(line), kBriefColumns) << line;
    EXPECT_EQ(lines.back(), "rankscope open sample.rsdb");
}

TEST(BriefText, ShowsEveryPartAndTheExactSum)
{
    const auto lines = linesOf(briefText(sampleRun(), "sample.rsdb"));
    ASSERT_GE(lines.size(), 9U);
    EXPECT_EQ(lines[4], "compute                 65.0 % of rank time");
    EXPECT_EQ(lines[5], "pipeline bubble         25.0 %");
    EXPECT_EQ(lines[6], "unattributed             9.5 %");
    EXPECT_EQ(lines[7], "transfer 0.5 %");
    EXPECT_EQ(lines[8], "sum 100.0 % = 2.00 rank-seconds");
}

TEST(BriefText, OfAnEmptyRunStillSaysWhatItIs)
{
    RunAnalysis run;
    run.facts.run.name = "nothing";
    run.findings = findings(run);
    const std::string text = briefText(run, "n.rsdb");
    EXPECT_TRUE(contains(text, "nothing: 0 of 0 ranks, no steps"));
    EXPECT_TRUE(contains(text, "No finding: nothing was recorded."));
}

namespace {

/// The sample with three alerts.
RunAnalysis alarmedRun()
{
    RunAnalysis run = sampleRun();
    const std::int64_t beginNs = run.facts.window.beginNs;
    run.facts.alerts = { { "straggler: rank 1 computes 2.00 times as long as its peers",
                             "threshold 0.75, is 0.5, at step 3; for ann; mark", { 1 },
                             { beginNs, beginNs + 300'000'000 } },
        { "hang: rank 1 is stopped; no progress for 2 s; rank 1 did not join all-reduce 118 of the data-parallel group",
            "threshold 2, is 2.01; for ann; restart", { 1 }, { beginNs, beginNs + 4'000'000'000 } },
        { "dropped: 3 records did not fit into their rings", "threshold 0, is 3; mark", {}, { beginNs, beginNs } } };
    return run;
}

} // namespace

TEST(ReportText, TellsWhatTheRulesSaidWhileTheRunWentOn)
{
    EXPECT_FALSE(contains(reportText(sampleRun()), "Alerts"));
    const std::string text = reportText(alarmedRun());
    EXPECT_TRUE(contains(text,
        "  straggler: rank 1 computes 2.00 times as long as its peers\n"
        "          at 300 ms · threshold 0.75, is 0.5, at step 3 · for ann · mark\n"))
        << text;
    EXPECT_TRUE(contains(text, "at 4.00 s · threshold 2, is 2.01 · for ann · restart\n"));
}

TEST(ReportText, BriefOneNamesTheFirstAlertsAndStaysShort)
{
    const std::string text = briefText(alarmedRun(), "run.rsdb");
    const auto lines = linesOf(text);
    EXPECT_LE(lines.size(), 20U);
    for (const std::string& line : lines)
        EXPECT_LE(textWidth(line), 100U) << line;
    EXPECT_TRUE(contains(text, "alert at 300 ms: straggler: rank 1 computes 2.00 times as long as its peers\n"))
        << text;
    EXPECT_TRUE(contains(text, "alert at 4.00 s: hang: rank 1 is stopped; no progress for 2 s\n")) << text;
    EXPECT_TRUE(contains(text, "1 more alert\n")) << text;
    EXPECT_EQ(lines.back(), "rankscope open run.rsdb");
}

TEST(ReportJson, ListsAlerts)
{
    const auto document = parsed(reportJson(alarmedRun()));
    ASSERT_EQ(document["alerts"].Size(), 3U);
    EXPECT_EQ(document["alerts"][0]["ranks"][0].GetInt(), 1);
    EXPECT_EQ(document["alerts"][0]["end_ns"].GetInt64() - document["alerts"][0]["begin_ns"].GetInt64(), 300'000'000);
}

} // namespace rankscope::tracing
