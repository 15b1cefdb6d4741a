#include "tracing/cli/watch/alert_actions.h"

#include "tests/support/temporary_directory.h"
#include "tracing/record/command_file.h"
#include "tracing/record/facts_file.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <fstream>
#include <iterator>

namespace rankscope::tracing {
namespace {

diagnosis::Alert straggler(const std::string& action)
{
    diagnosis::Alert alert;
    alert.rule = { "straggler", 0.75, 3, "ann \"the boss\"", action };
    alert.title = "straggler: rank 1 computes 2.00 times as long as its peers";
    alert.ranks = { 1 };
    alert.step = 13;
    alert.value = 0.5;
    alert.window = { 400, 500 };
    return alert;
}

class AlertActions : public testing::Test {
protected:
    /// What the ranks are told.
    std::vector<std::string> commands()
    {
        CommandReader reader(directory_.path().string());
        std::vector<std::string> all;
        for (auto line = reader.next(); line; line = reader.next())
            all.push_back(*line);
        return all;
    }

    std::vector<Fact> facts()
    {
        std::ifstream file(jobFactsPath(directory_.path().string()), std::ios::binary);
        return decodeFacts(std::string(std::istreambuf_iterator<char>(file), {})).facts;
    }

    support::TemporaryDirectory directory_;
};

TEST_F(AlertActions, TellTheRanksWhatTheRuleWants)
{
    for (const char* action : { "notify", "mark", "restart", "checkpoint", "stop" })
        EXPECT_TRUE(actOn(straggler(action), directory_.path()));
    EXPECT_EQ(commands(), (std::vector<std::string>{ "checkpoint", "stop" }));
}

TEST_F(AlertActions, WriteEachAlertDownForTheRunsFile)
{
    ASSERT_TRUE(actOn(straggler("mark"), directory_.path()));
    const auto all = facts();
    ASSERT_EQ(all.size(), 1U);
    const auto& fact = std::get<AlertFact>(all[0]);
    EXPECT_EQ(fact.title, "straggler: rank 1 computes 2.00 times as long as its peers");
    EXPECT_EQ(fact.text, "threshold 0.75, is 0.5; at step 13; for ann \"the boss\"; mark");
    EXPECT_EQ(fact.ranks, std::vector<std::int32_t>{ 1 });
    EXPECT_EQ(fact.beginNs, 400);
    EXPECT_EQ(fact.endNs, 500);
}

TEST_F(AlertActions, SayThatTheSessionIsGone)
{
    const Status acted = actOn(straggler("stop"), directory_ / "nowhere");
    ASSERT_FALSE(acted);
    EXPECT_NE(acted.error().message().find("nowhere"), std::string::npos);
}

TEST(Alert, IsKeptFromPeopleWhereItIsOnlyAMark)
{
    EXPECT_FALSE(isForPeople(straggler("mark")));
    EXPECT_TRUE(isForPeople(straggler("stop")));
}

TEST(Alert, IsOneLineOfJson)
{
    const std::string line = alertJson(straggler("stop"));
    EXPECT_EQ(line.find('\n'), std::string::npos);
    rapidjson::Document object;
    object.Parse(line.c_str());
    ASSERT_TRUE(object.IsObject()) << line;
    EXPECT_STREQ(object["event"].GetString(), "alert");
    EXPECT_STREQ(object["owner"].GetString(), "ann \"the boss\"");
    EXPECT_EQ(object["step"].GetInt(), 13);
    EXPECT_EQ(object["ranks"][0].GetInt(), 1);
}

} // namespace
} // namespace rankscope::tracing
