#include "backend/train/config_keys.h"
#include "backend/train/plan.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

namespace rankscope::backend {

namespace {

rapidjson::Document parsed(const std::string& json)
{
    rapidjson::Document document;
    document.Parse(json.c_str());
    EXPECT_FALSE(document.HasParseError()) << json;
    return document;
}

} // namespace

TEST(Plan, SaysRanksLayoutMemoryAndSchedule)
{
    Config config;
    config.parallel.pp = 2;
    config.parallel.dp = 2;
    config.batch.microBatches = 3;
    const auto plan = parsed(planJson(config, {}));
    EXPECT_EQ(plan["schema"].GetInt(), 1);
    EXPECT_TRUE(plan["ok"].GetBool());
    EXPECT_EQ(plan["ranks"].GetInt(), 4);
    EXPECT_EQ(plan["layout"]["pp"].GetInt(), 2);
    ASSERT_EQ(plan["layout"]["ranks"].Size(), 4u);
    const auto& last = plan["layout"]["ranks"][3];
    EXPECT_EQ(last["stage"].GetInt(), 1);
    EXPECT_EQ(last["dp"].GetInt(), 1);
    EXPECT_EQ(last["first_layer"].GetInt(), 2);
    EXPECT_GT(last["memory_bytes"].GetInt64(), 16 * last["parameters"].GetInt64());
    // (p - 1) / (m + p - 1)
    EXPECT_DOUBLE_EQ(plan["schedule"]["bubble_share"].GetDouble(), 0.25);
    EXPECT_EQ(plan["schedule"]["stages"][0]["peak_activations"].GetInt(), 2);
}

TEST(Plan, ListsEveryKeyWithItsMeaningAndWhatIsAllowed)
{
    const auto plan = parsed(planJson(Config{}, {}));
    const auto& keys = plan["keys"];
    EXPECT_EQ(keys.Size(), configKeys().size() + linkKeys().size());
    EXPECT_STREQ(keys[0]["key"].GetString(), "model.layers");
    EXPECT_STREQ(keys[0]["allowed"].GetString(), "a whole number, 1 to 1000");
    EXPECT_STREQ(keys[0]["default"].GetString(), "4");
}

TEST(Plan, WithProblemsItSaysThemAndStillListsTheKeys)
{
    const auto plan = parsed(planJson(Config{}, { "data.path is not \"set\"" }));
    EXPECT_FALSE(plan["ok"].GetBool());
    EXPECT_STREQ(plan["errors"][0].GetString(), "data.path is not \"set\"");
    EXPECT_FALSE(plan.HasMember("layout"));
    EXPECT_TRUE(plan.HasMember("keys"));
}

TEST(Plan, HelpShowsAnExampleAndEveryKey)
{
    const std::string help = helpText();
    EXPECT_NE(help.find("mpirun -n 2 rankscope-train samples/quickstart.toml"), std::string::npos);
    for (const ConfigKey& key : configKeys())
        EXPECT_NE(help.find(std::string(key.name)), std::string::npos) << key.name;
}

} // namespace rankscope::backend
