#include "tracing/analysis/check/check.h"

#include "tests/support/temporary_directory.h"
#include "tests/support/trace_builder.h"
#include "tracing/export/check_report.h"
#include "tracing/model/sha256.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(Rules, RefuseWhatTheyDoNotKnowByName)
{
    const auto message = [](const std::string& text) {
        const auto rules = parseRules(text);
        return rules ? std::string() : rules.error().message();
    };
    EXPECT_NE(message("[[rule]]\nmetric='speed'\nat_most=1").find("speed"), std::string::npos);
    EXPECT_NE(message("[[rule]]\nmetric='step_ms'\nat_mots=1").find("at_mots"), std::string::npos);
    EXPECT_NE(message("[[rule]]\nmetric='step_ms'").find("at_most"), std::string::npos);
    EXPECT_NE(message("[[rule]]\nmetric='step_ms'\nat_most=1\nheld_out=true").find("held_out"), std::string::npos);
    EXPECT_NE(message("[[rule]]\nmetric='step_ms'\nat_most=1\nsteps='5:2'").find("5:2"), std::string::npos);
    EXPECT_NE(message("[[rule]]\nmetric='step_ms'\nat_most=1\nruns='a'").find("list of names"), std::string::npos);
    EXPECT_NE(message("owner='me'").find("[[rule]]"), std::string::npos);
    EXPECT_NE(message("[[detector]]\nkind='slowness'").find("straggler"), std::string::npos);
    EXPECT_NE(message("[[detector]]\nkind='hang'\naction='pray'").find("restart"), std::string::npos);
    EXPECT_NE(message("[[rule]\n").find("line 1"), std::string::npos);
}

TEST(Rules, GiveDetectorsTheirDefaults)
{
    const auto rules = parseRules("owner='ann'\n[[detector]]\nkind='straggler'\n[[detector]]\nkind='hang'\n"
                                  "threshold=4\naction='restart'\nowner='bob'\n");
    ASSERT_TRUE(rules);
    ASSERT_EQ(rules->detectors.size(), 2U);
    EXPECT_EQ(rules->detectors[0].threshold, 0.75);
    EXPECT_EQ(rules->detectors[0].steps, 3);
    EXPECT_EQ(rules->detectors[0].action, "notify");
    EXPECT_EQ(rules->detectors[0].owner, "ann");
    EXPECT_EQ(rules->detectors[1].threshold, 4);
    EXPECT_EQ(rules->detectors[1].owner, "bob");
}

class Check : public testing::Test {
protected:
    /// Six steps of 10 ms, step 5 of 30 ms; one rank that computes half of each.
    std::string run(const std::string& registered = {})
    {
        const std::filesystem::path file = directory_ / "run.rsdb";
        support::TraceBuilder trace(file, 1);
        std::int64_t at = 0;
        for (int step = 1; step <= 6; ++step) {
            const std::int64_t length = step == 5 ? 30 * kMs : 10 * kMs;
            trace.step(0, step, { at, at + length });
            trace.kernel(0, { at, at + length / 2 }, "matmul");
            at += length;
        }
        if (!registered.empty())
            trace.provenance(kRulesHashKey, sha256(registered));
        trace.finish();
        return file.string();
    }

    CheckResult check(const std::string& file, const std::string& rules)
    {
        auto reader = TraceReader::open(file);
        EXPECT_TRUE(reader);
        auto result = checkRun(*reader, *parseRules(rules));
        EXPECT_TRUE(result) << result.error().message();
        return std::move(*result);
    }

    support::TemporaryDirectory directory_;
};

TEST_F(Check, HoldsEachRuleAgainstItsSteps)
{
    // Counted are steps 2 to 6: 10, 10, 10, 30, 10 ms.
    const auto result = check(run(),
        "owner='ann'\n"
        "[[rule]]\nname='mean'\nmetric='step_ms'\nat_most=14.5\nat_least=13.5\n"
        "[[rule]]\nname='calm'\nmetric='step_ms.worst'\nsteps='2:4'\nat_most=10\n"
        "[[rule]]\nname='worst'\nmetric='step_ms.worst'\nat_most=20\nowner='bob'\n"
        "[[rule]]\nname='learns'\nmetric='loss'\nat_most=3\n");
    ASSERT_EQ(result.rules.size(), 4U);
    EXPECT_TRUE(result.rules[0].isKept);
    EXPECT_EQ(result.rules[0].value, 14);
    EXPECT_TRUE(result.rules[1].isKept);
    EXPECT_FALSE(result.rules[2].isKept);
    EXPECT_EQ(result.rules[2].value, 30);
    EXPECT_EQ(result.rules[2].rule.owner, "bob");
    EXPECT_FALSE(result.rules[3].isKept) << "what is not known is not kept";
    EXPECT_EQ(result.rules[3].rule.owner, "ann");
    EXPECT_FALSE(result.isGood());
    EXPECT_EQ(result.registration, CheckResult::Registration::None);
}

TEST_F(Check, TellsRulesThatWereChangedAfterTheRunBegan)
{
    const std::string before = "[[rule]]\nmetric='step_ms'\nat_most=12\n",
                      after = "[[rule]]\nmetric='step_ms'\nat_most=20\n";
    const std::string file = run(before);
    EXPECT_EQ(check(file, before).registration, CheckResult::Registration::Before);
    const auto changed = check(file, after);
    EXPECT_EQ(changed.registration, CheckResult::Registration::Changed);
    EXPECT_TRUE(changed.rules[0].isKept);
    EXPECT_FALSE(changed.isGood());
    EXPECT_NE(checkJunit({ changed }).find("failures=\"1\""), std::string::npos);
    EXPECT_NE(checkText(changed).find("changed after the run began"), std::string::npos);
}

TEST_F(Check, LooksAtHeldOutStepsOnce)
{
    const std::string file = run();
    const auto rule = [](const char* most) {
        return std::string("[[rule]]\nmetric='step_ms.worst'\nsteps='4:6'\nheld_out=true\nat_most=") + most;
    };
    const auto first = check(file, rule("20"));
    EXPECT_EQ(first.rules[0].value, 30);
    EXPECT_TRUE(first.rules[0].note.starts_with("held out, looked at ")) << first.rules[0].note;
    // The second time its answer is the first one's, also under another threshold.
    const auto second = check(file, rule("40"));
    EXPECT_EQ(second.rules[0].value, 30);
    EXPECT_EQ(second.rules[0].note, first.rules[0].note);
}

TEST_F(Check, ARuleAboutSomeRunsNeedsAllOfThemAndLooksAtThemOnce)
{
    const std::string file = run();
    const auto rules = [](const char* most) {
        return "[[rule]]\nmetric='step_ms.worst'\nruns=['run','again']\nheld_out=true\nat_most=" + std::string(most)
            + "\n[[rule]]\nname='other'\nmetric='step_ms'\nruns=['elsewhere']\nat_most=1\n";
    };
    const auto first = check(file, rules("30"));
    ASSERT_EQ(first.rules.size(), 1U) << "the second rule is about another run";
    EXPECT_TRUE(first.rules[0].isKept);
    EXPECT_TRUE(first.rules[0].note.starts_with("held out, looked at ")) << first.rules[0].note;
    EXPECT_EQ(check(file, rules("20")).rules[0].note, first.rules[0].note) << "the first look stands";

    const auto missing = missingRuns({ first }, *parseRules(rules("30")));
    ASSERT_EQ(missing.size(), 2U);
    EXPECT_EQ(missing[0].run, "again");
    EXPECT_EQ(missing[0].rules[0].note, "this run was not shown");
    EXPECT_FALSE(missing[0].isGood());
    EXPECT_EQ(missing[1].run, "elsewhere");
    const std::string xml = checkJunit({ first, missing[0] });
    EXPECT_NE(xml.find("<testsuite name=\"again\""), std::string::npos) << xml;
}

TEST_F(Check, WritesXmlThatSurvivesNamesWithSigns)
{
    const auto result = check(run(), "[[rule]]\nname='a < b & \"c\"'\nmetric='step_ms'\nat_most=1\n");
    const std::string text = checkJunit({ result });
    EXPECT_NE(text.find("name=\"a &lt; b &amp; &quot;c&quot;\""), std::string::npos) << text;
    EXPECT_NE(checkMarkdown(result).find("1 of 1 rule broken"), std::string::npos) << checkMarkdown(result);
}

} // namespace
} // namespace rankscope::tracing
