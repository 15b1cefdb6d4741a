#include "tests/tracing/analysis/ledger/published_result.h"

#include "tracing/analysis/scenario/published_rules.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <fstream>
#include <iterator>

namespace rankscope::tracing::scenario {

namespace {

/// The published results have more digits; ours are to agree in three of them.
constexpr double kThreeDigits = 0.0005;

rapidjson::Document documentIn(const std::filesystem::path& path)
{
    std::ifstream file(path);
    const std::string text{ std::istreambuf_iterator<char>(file), {} };
    rapidjson::Document document;
    document.Parse(text.c_str());
    return document;
}

double meanOf(const rapidjson::Value& bySteps)
{
    double sum = 0;
    for (const auto& step : bySteps.GetObject())
        sum += step.value.GetDouble();
    return sum / bySteps.MemberCount();
}

void expectSame(const std::vector<std::pair<std::string, double>>& ours, const rapidjson::Value& theirs)
{
    for (const auto& [name, slowdown] : ours) {
        ASSERT_TRUE(theirs.HasMember(name.c_str())) << name;
        EXPECT_NEAR(slowdown, theirs[name.c_str()].GetDouble(), kThreeDigits) << name;
    }
}

void expectExplained(const Explained& ours, const rapidjson::Value& theirs)
{
    EXPECT_NEAR(ours.removedSeconds, theirs["trem"].GetDouble(), kThreeDigits);
    EXPECT_NEAR(ours.addedSeconds, theirs["tadd"].GetDouble(), kThreeDigits);
    EXPECT_NEAR(ours.removedShare, theirs["rem"].GetDouble(), kThreeDigits);
    EXPECT_NEAR(ours.addedShare, theirs["add"].GetDouble(), kThreeDigits);
}

} // namespace

void expectPublishedResult(
    const ledger::LedgerInput& input, const std::string& name, const std::filesystem::path& published)
{
    const auto result = publishedSlowdown(input);
    ASSERT_TRUE(result) << result.error().message();
    const auto theirs = documentIn(published / ("result-" + name + ".json"));
    EXPECT_NEAR(result->recordedSeconds, meanOf(theirs["step_t_base"]), kThreeDigits);
    EXPECT_NEAR(result->withoutDelaysSeconds, meanOf(theirs["step_t_nodelay"]), kThreeDigits);
    EXPECT_NEAR(result->idealSeconds, meanOf(theirs["step_t_noblk"]), kThreeDigits);
    EXPECT_NEAR(result->slowdown(), theirs["blocking_slowdown"].GetDouble(), kThreeDigits);
    EXPECT_NEAR(1 + result->discrepancy(), theirs["launch_slowdown"].GetDouble(), kThreeDigits);
    expectSame(result->byReplica, theirs["blocking_decompose_by_dp_rank"]);
    expectSame(result->byStage, theirs["blocking_decompose_by_stage"]);
    expectSame(result->byOperation, theirs["blocking_decompose_by_optype"]);
    expectExplained(result->worst, documentIn(published / ("mw-" + name + ".json")));
    expectExplained(result->lastStage, documentIn(published / ("ms-" + name + ".json")));
}

} // namespace rankscope::tracing::scenario
